"""Python functions that a claims file names: `module:function`, of a module in the document's folder."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from bufferlab.errors import InputError
from bufferlab.evidence.document import Document
from bufferlab.evidence.reading import CLAIMS_FILE


def hook(document: Document, name: str) -> Callable[..., Any]:
    """The function that a claims file names.

    Raises:
        InputError: There is no such module or function.
    """
    module_name, _, function_name = name.partition(":")
    function = getattr(_module(document, module_name, name), function_name, None)
    if not callable(function):
        raise _unknown(document, name, f"a function of {module_name}.py")
    return function  # type: ignore[no-any-return]


def _module(document: Document, module: str, name: str) -> ModuleType:
    if document.package is not None:
        return importlib.import_module(f"{document.package}.{module}")
    file = (document.folder / f"{module.replace('.', '/')}.py").resolve()
    if not file.is_file():
        raise _unknown(document, name, f"a module in {document.folder}")
    own_name = f"_bufferlab_claims_{abs(hash(str(file)))}"
    if own_name not in sys.modules:
        spec = importlib.util.spec_from_file_location(own_name, file)
        if spec is None or spec.loader is None:
            raise _unknown(document, name, "a Python module")
        loaded = importlib.util.module_from_spec(spec)
        sys.modules[own_name] = loaded
        try:
            spec.loader.exec_module(loaded)
        except BaseException:
            del sys.modules[own_name]
            raise
    return sys.modules[own_name]


def _unknown(document: Document, name: str, accepted: str) -> InputError:
    return InputError("cannot be found", file=document.folder / CLAIMS_FILE, value=name, accepted=accepted)
