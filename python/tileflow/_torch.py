"""from_torch(): a module of PyTorch as a workload, by its graph (torch.export), which torch writes as ONNX."""
import os
import tempfile

from . import _inputs, _run


def workload(module, example, named):
    """The YAML of the module's graph for inputs of these shapes.  Weights stay behind: a workload has shapes alone."""
    import torch
    with tempfile.TemporaryDirectory(prefix="tileflow-torch-") as folder, torch.no_grad():
        path = os.path.join(folder, "module.onnx")
        program = torch.export.export(module.eval(), example, named)
        torch.onnx.export(program, f=path, external_data=True, verbose=False)
        return _run.run("import", [_inputs.source(path)], {"quiet": True}).stdout
