# What bounds a mapping, in words: three mappings, the last with params of the machine.
A="arch-specs/edge.yaml workloads/attention/g1.yaml"
tileflow explain $A workloads/dataflows/edge/attention-layerwise.yaml
tileflow explain $A workloads/dataflows/edge/attention-flat-rgran.yaml
tileflow explain tests/golden/in/params.yaml
