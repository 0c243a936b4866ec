# Every section that is missing is named.
cd $OUT && echo 'params: {a: 1}' >params.yaml && tileflow eval params.yaml
