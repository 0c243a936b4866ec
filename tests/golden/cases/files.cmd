# Files are written whole or not at all; links stay links; what is no file is written to.
f=tests/golden/in/chain.yaml
cd $OUT && mkdir there && cp "$OLDPWD/$f" . && f=chain.yaml
echo old >real.json && ln -s real.json link.json && chmod 600 real.json
tileflow eval $f --quiet --json link.json --csv there/new.csv
ls -1 . there
[ -L link.json ] && head -n 2 real.json && stat -c %a real.json
tileflow eval $f --quiet --json /dev/null && [ -c /dev/null ] && echo 'still a device'
echo old >there/kept.json
tileflow eval $f --quiet --json there && echo wrote a folder
tileflow eval $f --quiet --json nowhere/a.json || echo "status $?"
tileflow eval $f >/dev/full || echo "status $?"
tileflow eval $f --json - >/dev/full || echo "status $?"
