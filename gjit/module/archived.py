"""What archives know by name of modules and marks."""

from __future__ import annotations

from gjit.marks import annotate
from gjit.module.base import HookHandle, Module, Parameter
from gjit.module.containers import ModuleDict, ModuleList, Sequential
from gjit.module.scripted import ScriptModule, Stages, script_method

ARCHIVED: dict[str, object] = {
    "gjit.Module": Module,
    "gjit.ModuleDict": ModuleDict,
    "gjit.ModuleList": ModuleList,
    "gjit.Parameter": Parameter,
    "gjit.ScriptModule": ScriptModule,
    "gjit.Sequential": Sequential,
    "gjit.annotate": annotate,
    "gjit.module.HookHandle": HookHandle,
    "gjit.module.Stages": Stages,
    "gjit.script_method": script_method,
}
"""Classes and functions of modules that an archive refers to, by name."""
