"""The most 8-bit multiplications a second that onnxruntime reaches on one core: one large matrix product."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

SIDE = 1536


def peak_probe() -> Callable[[], float]:
    """Return a function that runs the product once and returns multiply-adds per second of processor time.

    The kernel, MatMulIntegerToFloat, is the one that does the embedder's products.
    """
    import onnxruntime
    from onnx import TensorProto, helper, numpy_helper

    chance = np.random.default_rng(1)
    weights = chance.integers(-63, 64, (SIDE, SIDE), dtype=np.int8)
    node = helper.make_node("MatMulIntegerToFloat", ["a", "w", "one", "steps"], ["y"], domain="com.microsoft")
    graph = helper.make_graph(
        [node],
        "peak",
        [helper.make_tensor_value_info("a", TensorProto.UINT8, [SIDE, SIDE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [SIDE, SIDE])],
        [
            numpy_helper.from_array(weights, "w"),
            numpy_helper.from_array(np.array(1, dtype=np.float32), "one"),
            numpy_helper.from_array(np.ones(SIDE, dtype=np.float32), "steps"),
        ],
    )
    opsets = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    codes = chance.integers(0, 256, (SIDE, SIDE), dtype=np.uint8)

    def run() -> float:
        start = time.process_time()
        session.run(None, {"a": codes})
        return float(SIDE**3 / (time.process_time() - start))

    run()
    return run
