# What a mask leaves out is said, in the text and in JSON.
tileflow explain tests/golden/in/causal.yaml | head -5
tileflow explain tests/golden/in/causal.yaml --json - | grep skipped
