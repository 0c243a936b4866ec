# Read by the scripts of this folder that look at machine code: $nvcc is the compiler; $cuobjdump shows machine code, and is empty where
# there is none: looked for by NVCC and CUOBJDUMP, on the PATH, beside nvcc, and among the Python packages that have one (PyPI's
# nvidia-cuda-cuobjdump, and Triton) of python3 and of PYTHON.  Ends the script with status 77 where there is no nvcc.
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "SKIP: no nvcc"; exit 77; }
find_cuobjdump() {
  for each in "${CUOBJDUMP:-cuobjdump}" "$(dirname "$(command -v "$nvcc")")/cuobjdump"; do
    command -v "$each" && return
  done
  for python in "${PYTHON:-python3}" python3; do
    "$python" -c '
import glob, os, sys
for at in sys.path:
    for name in glob.glob(os.path.join(at, "nvidia", "*", "bin", "cuobjdump")) + glob.glob(os.path.join(at, "triton", "backends", "nvidia", "bin", "cuobjdump")):
        if os.access(name, os.X_OK):
            print(name)
            sys.exit(0)
sys.exit(1)' 2>/dev/null && return
  done
}
cuobjdump=$(find_cuobjdump)
[ "$cuobjdump" ] || echo "no cuobjdump: machine code is not looked at"
