"""The graph: data structure, types, text form, verifier, copies."""

from gjit.ir.builder import Builder
from gjit.ir.clone import clone_block_into, clone_graph, clone_node
from gjit.ir.constants import constant_key, constant_text, is_constant
from gjit.ir.equal import constants_equal, graphs_equal
from gjit.ir.graph import (
    TERMINATORS,
    Block,
    CaptureKind,
    CaptureSlot,
    Constant,
    Graph,
    Node,
    Parameter,
    ParameterKind,
    Value,
)
from gjit.ir.parser import GraphTextError, parse_constant, parse_graph, parse_type
from gjit.ir.printer import print_around, print_graph
from gjit.ir.protocols import known_names
from gjit.ir.verify import verify_graph

__all__ = [
    "TERMINATORS",
    "Block",
    "Builder",
    "CaptureKind",
    "CaptureSlot",
    "Constant",
    "Graph",
    "GraphTextError",
    "Node",
    "Parameter",
    "ParameterKind",
    "Value",
    "clone_block_into",
    "clone_graph",
    "clone_node",
    "constant_key",
    "constant_text",
    "constants_equal",
    "graphs_equal",
    "is_constant",
    "known_names",
    "parse_constant",
    "parse_graph",
    "parse_type",
    "print_around",
    "print_graph",
    "verify_graph",
]
