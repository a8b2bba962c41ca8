"""Data in memory: frames, lists, dictionaries and arrays as sources."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from markone.data.arrow_tables import FrameTable, without_index
from markone.data.blocks import as_importance, is_sparse
from markone.data.kinds import can_be, is_number
from markone.data.matrices import MatrixSource
from markone.data.options import Options
from markone.data.source import Source
from markone.data.tables import TableSource, shown
from markone.errors import DataError, SettingsError
from markone.extras import need

ROW = (list, tuple, np.ndarray)


def read_memory(what: Any, options: Options) -> Source:
    """The source for data in memory, whose labels are a column or a separate list."""
    what = as_table_or_matrix(what)
    if options.nan == "missing":
        if not isinstance(what, np.ndarray):
            raise SettingsError("nan", "is about dense arrays; leave it out for other data", value=options.nan)
        what = columns_of_matrix(what)
        options = replace(options, kinds={**dict.fromkeys(what.column_names, "numeric"), **options.kinds})
    if isinstance(what, Texts):
        what, options = what.table, replace(options, kinds={"text": "text", **options.kinds})
    is_table = hasattr(what, "column_names")
    rows = what.num_rows if is_table else what.shape[0]
    labels = given(options, "target", rows)
    weights = given(options, "importance", rows)
    importance = None if weights is None else check_importance(weights, rows)
    if is_table:
        name = name_of_labels(options.target, what.column_names)
        return TableSource(FrameTable(what, "the table"), options, labels, importance, name)
    for setting in ("target", "importance"):
        if isinstance(getattr(options, setting), str):
            raise SettingsError(
                setting, f"must be a list, one for each row: a matrix has no column {getattr(options, setting)!r}"
            )
    if options.kinds:
        raise SettingsError("kinds", "are for columns of tables, and a matrix contains numbers; leave it out")
    return MatrixSource(what, labels, importance)


class Texts:
    """The source for a list of texts: a table with one column of kind text."""

    def __init__(self, texts: Any) -> None:
        import pyarrow as pa

        if not can_be(texts.type, "text") or is_number(texts.type):
            raise DataError(
                f"a single column must contain texts, not {texts.type}; name other columns, {{'x': ...}}, and give one "
                "row as a list with a dictionary, [{'x': ...}]"
            )
        self.table = pa.table({"text": texts})


def columns_of_matrix(matrix: NDArray[Any]) -> Any:
    """A table whose columns are those of a matrix, named x0, x1 and so on. NaN is a missing value."""
    import pyarrow as pa

    return pa.table({f"x{i}": pa.array(column, from_pandas=True) for i, column in enumerate(matrix.T)})


def collected(what: Any) -> Any:
    """A lazy frame of polars or a data set of Hugging Face as a table in memory; anything else unchanged."""
    library = type(what).__module__.partition(".")[0]
    if library == "polars" and type(what).__name__ == "LazyFrame":
        return what.collect()
    if library == "datasets" and hasattr(what, "with_format"):
        if isinstance(what, Mapping):
            raise DataError(
                f"a {type(what).__name__} contains several data sets; choose one: {', '.join(map(repr, what))}, as in "
                f"data[{next(iter(what), 'train')!r}]"
            )
        if not hasattr(what, "__len__"):
            raise DataError(f"a {type(what).__name__} is read only once; load the data set without streaming")
        return what.with_format("arrow")[:]
    return what


def as_table_or_matrix(what: Any) -> Any:
    """An Arrow table, texts, or a matrix of NumPy or SciPy."""
    what = collected(what)
    if is_sparse(what):
        return what
    if isinstance(what, np.ndarray) and what.ndim == 2 and what.dtype.kind in "fiub":
        return what
    need("pyarrow")
    import pyarrow as pa

    try:
        if hasattr(what, "iloc") and hasattr(what, "columns"):  # older versions of pandas have no Arrow interface
            return without_index(pandas_as_table(what))
        if hasattr(what, "__arrow_c_stream__") or hasattr(what, "__arrow_c_array__"):
            return frame_as_table(what)
        if isinstance(what, Mapping):
            return table_of(what)
        if isinstance(what, np.ndarray) or (hasattr(what, "tolist") and hasattr(what, "dtype")):
            what = what.tolist()
        if isinstance(what, list | tuple):
            return list_as_table(list(what))
    except (pa.ArrowException, UnicodeError, OverflowError, ValueError, TypeError) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the data are not a table: {error}") from None
    raise DataError(
        f"data must be a path, a frame, a list of texts or dictionaries, a dictionary of columns or a matrix, not "
        f"{type(what).__name__}"
    )


def pandas_as_table(frame: Any) -> Any:
    """Read a frame of pandas. Columns of texts and numbers, which pandas makes of untidy files, become texts."""
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        mixed = [number for number in range(frame.shape[1]) if has_texts_and_numbers(frame.iloc[:, number])]
        if not mixed:
            raise
        frame = frame.copy(deep=False)
        for number in mixed:
            column = frame.iloc[:, number]
            frame.isetitem(number, column.map(str, na_action="ignore"))
        return pa.Table.from_pandas(frame, preserve_index=False)


def has_texts_and_numbers(column: Any) -> bool:
    if column.dtype != object:
        return False
    types = {*map(type, column.dropna())}
    return str in types and len(types) > 1 and all(issubclass(one, str | Number | np.bool_) for one in types)


def frame_as_table(frame: Any) -> Any:
    """Read an object with Arrow's interface, whose stream may be readable only once; the memory is shared."""
    import pyarrow as pa

    if isinstance(frame, pa.Array | pa.ChunkedArray):
        return Texts(frame)
    if hasattr(frame, "__arrow_c_stream__"):
        try:
            return without_index(pa.table(frame))
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a single column, such as a series
            return Texts(series_as_array(frame))
    return pa.table(frame)


def series_as_array(series: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.chunked_array(series)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise DataError(
            f"a {type(series).__name__} must contain texts, but has values of several kinds; if it is a row, "
            "give a list with a dictionary, [row.to_dict()]"
        ) from None


def list_as_table(items: list[Any]) -> Any:
    if not items:
        raise DataError("the list is empty")
    if all(isinstance(item, str | bytes) for item in items):
        return Texts(column_as_array("text", items))
    if all(isinstance(item, Mapping) for item in items):
        names = dict.fromkeys(name for item in items for name in item)
        return table_of({name: [item.get(name) for item in items] for name in names})
    if all(isinstance(item, ROW) for item in items):
        short = next((i for i, item in enumerate(items) if len(item) != len(items[0])), None)
        if short is not None:
            raise DataError(
                f"rows of numbers must have one length, but row 0 has {len(items[0])}, row {short} {len(items[short])}"
            )
        matrix = np.asarray(items)
        if matrix.ndim == 2 and matrix.dtype.kind in "fiub":
            return matrix
    raise DataError(what_is_odd(items))


def what_is_odd(items: list[Any]) -> str:
    """A message about the first item of a list whose type differs from that of the first valid item."""
    sorts: dict[str, Any] = {"text": (str, bytes), "dictionary": Mapping, "row": ROW}
    sort = next((sort for item in items for sort, types in sorts.items() if isinstance(item, types)), None)
    number = 0 if sort is None else next((i for i, item in enumerate(items) if not isinstance(item, sorts[sort])), 0)
    odd = items[number]
    if sort is not None and (odd is None or (isinstance(odd, float) and np.isnan(odd))):
        return f"a {sort} is missing: number {number} of the list, counted from 0, is {odd}"
    return (
        f"a list must contain only texts, only dictionaries or only rows of numbers, not {odd!r:.60}, which is number "
        f"{number}, counted from 0"
    )


def table_of(columns: Mapping[Any, Any]) -> Any:
    """An Arrow table of columns. Their names may have any type, but must differ as texts."""
    import pyarrow as pa

    names: dict[str, object] = {}
    for name in columns:
        if str(name) in names:
            raise DataError(f"two columns would be called {str(name)!r}: {names[str(name)]!r} and {name!r}; rename one")
        names[str(name)] = name
    return pa.table({str(name): column_as_array(name, values) for name, values in columns.items()})


def column_as_array(name: object, values: Any) -> Any:
    import pyarrow as pa

    if hasattr(values, "__arrow_c_stream__") or hasattr(values, "__arrow_c_array__"):
        return pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping | Set):
        raise DataError(
            f"the column {name!r} must be a list of values, not {type(values).__name__}: {shown(values)}; a single "
            f"example is a list with a dictionary, [{{{name!r}: ...}}]"
        )
    values = values if isinstance(values, np.ndarray) else list(values)
    if len(values) and isinstance(values[0], bytes):
        return pa.array(values, pa.binary())
    try:
        if isinstance(values, list) and {*map(type, values)} == {str}:
            return strings_as_array(values)
        try:
            return pa.array(values, from_pandas=True)
        except OverflowError:  # whole numbers of more than 64 bits
            return pa.array(values, pa.decimal256(76, 0))
    except (pa.ArrowException, UnicodeError, OverflowError) as error:
        raise DataError(f"the column {name!r} contains values of different kinds: {error}") from None


def strings_as_array(strings: list[str]) -> Any:
    """Do the same as `pa.array`, which is slow because it first imports pandas."""
    import pyarrow as pa

    whole = "".join(strings)
    data = whole.encode()
    lengths = map(len, strings) if len(data) == len(whole) else (len(string.encode()) for string in strings)
    made, wide = (pa.string(), np.int32) if len(data) < 2**31 else (pa.large_string(), np.int64)
    offsets = np.zeros(len(strings) + 1, wide)
    np.cumsum(np.fromiter(lengths, wide, len(strings)), out=offsets[1:])
    return pa.Array.from_buffers(made, len(strings), [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def given(options: Options, setting: str, rows: int) -> Sequence[Any] | None:
    """A sequence that is used instead of a column."""
    values = getattr(options, setting)
    if values is None or isinstance(values, str):
        return None
    if getattr(values, "ndim", 1) != 1:
        problem = f"must be one value, or one list of labels, for each row, not an array of {values.ndim} dimensions"
        raise SettingsError(setting, problem, advice="indicator matrices of labels are for the estimators")
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    elif hasattr(values, "tolist"):
        values = values.tolist()
    elif hasattr(values, "to_list"):
        values = values.to_list()
    if not isinstance(values, Sequence):
        raise SettingsError(setting, f"must be a column's name or one value for each row, not {type(values).__name__}")
    if len(values) != rows:
        raise DataError(f"there are {rows:,} rows but {len(values):,} values in {setting}")
    return values


def name_of_labels(labels: Any, columns: Sequence[str]) -> str:
    """The name of a series of labels, by which a model finds them in later tables; "label" if it has none."""
    name = getattr(labels, "name", None)
    return name if isinstance(name, str) and name and name not in columns else "label"


def check_importance(weights: Sequence[Any], rows: int) -> NDArray[np.float64]:
    checked = as_importance(weights, rows)
    return np.ones(rows) if checked is None else checked
