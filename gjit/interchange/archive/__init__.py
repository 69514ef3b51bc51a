"""Archives: compiled functions and modules in one file that needs no Python source, and that is safe to open.

The manifest is JSON: format version, versions of the ops that are used, records of the objects, checksums. Graphs are
texts, arrays raw buffers, and nothing in a file is executed but known ops.
"""

from gjit.interchange.archive.reading import read_archive
from gjit.interchange.archive.writing import write_archive

__all__ = ["read_archive", "write_archive"]
