"""Deployment of fitted models: files that are safe to load, and ONNX graphs for other languages."""

from protolearn.deployment._files import load, save
from protolearn.deployment._onnx import register_onnx_converters, to_onnx

__all__ = ["load", "register_onnx_converters", "save", "to_onnx"]
