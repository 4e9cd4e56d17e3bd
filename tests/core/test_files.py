"""Outputs are whole or not there, never in place of an input, and known to be possible before the work begins."""

import errno
import os
import stat

import pytest

from protolearn.core.files import check_output, file_size, replacing, replacing_together


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_an_output_appears_at_the_end(tmp_path):
    target = tmp_path / "new.txt"
    with replacing(target) as new:
        new.write_text("all of it")
        assert new.suffix == ".txt"
        assert not target.exists()
    assert target.read_text() == "all of it"
    assert names(tmp_path) == ["new.txt"]


@pytest.mark.parametrize("error", [ValueError, OSError, MemoryError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_output(tmp_path, error):
    (tmp_path / "old.txt").write_text("old")

    def write_half():
        with replacing(tmp_path / "old.txt") as new:
            new.write_text("half")
            raise error

    with pytest.raises(error):
        write_half()
    assert (tmp_path / "old.txt").read_text() == "old"
    assert names(tmp_path) == ["old.txt"]


def test_modes_are_those_of_other_new_files_or_of_the_old_one(tmp_path):
    for name in ("plain", "new"):
        if name == "plain":
            (tmp_path / name).write_text("")
        else:
            with replacing(tmp_path / name):
                pass
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode
    (tmp_path / "new").chmod(0o640)
    with replacing(tmp_path / "new") as new:
        new.write_text("newer")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640


def test_links_stay_and_lead_to_the_output(tmp_path):
    (tmp_path / "there").mkdir()
    (tmp_path / "link.txt").symlink_to(tmp_path / "there" / "file.txt")
    for content in ("first", "second"):
        with replacing(tmp_path / "link.txt") as new:
            new.write_text(content)
        assert (tmp_path / "link.txt").is_symlink()
        assert (tmp_path / "there" / "file.txt").read_text() == content
    assert names(tmp_path / "there") == ["file.txt"]


@pytest.mark.parametrize("kind", ["same", "path", "symbolic", "hard"])
def test_an_output_that_is_an_input_is_refused(tmp_path, kind, monkeypatch):
    source = tmp_path / "a.png"
    source.write_text("input")
    (tmp_path / "b.png").write_text("other")
    target = tmp_path / "c.png"
    if kind == "same":
        target = source
    elif kind == "path":
        monkeypatch.chdir(tmp_path)
        target = f"../{tmp_path.name}/./a.png"
    elif kind == "symbolic":
        target.symlink_to(source)
    else:
        target.hardlink_to(source)
    with pytest.raises(ValueError, match=r"would be overwritten; write to another file"):
        check_output(target, [tmp_path / "none", tmp_path / "b.png", source])
    check_output(target, [tmp_path / "none", tmp_path / "b.png"])
    assert source.read_text() == "input"


def test_what_cannot_be_written_is_said_without_a_trace(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        check_output(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"none/a.txt cannot be written: No such file"):
        check_output(tmp_path / "none" / "a.txt")
    (tmp_path / "file").write_text("")
    with pytest.raises(NotADirectoryError, match=r"a.txt cannot be written"):
        check_output(tmp_path / "file" / "a.txt")
    check_output(tmp_path / "new.txt")
    check_output(tmp_path / ("long" * 60 + ".txt"))
    assert names(tmp_path) == ["file"]


def test_what_may_not_be_written_is_said(tmp_path, monkeypatch):
    """Whoever runs the tests may write everywhere, so the answer of the system is imitated."""
    (tmp_path / "old.txt").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=r"old.txt cannot be written: Permission denied"):
        check_output(tmp_path / "old.txt")
    with pytest.raises(PermissionError, match=r"old.txt cannot be written"), replacing(tmp_path / "old.txt"):
        pytest.fail("should not begin")
    assert (tmp_path / "old.txt").read_text() == "old"


def test_devices_are_written_to_and_not_replaced():
    check_output("/dev/null")
    with replacing("/dev/null") as same:
        same.write_text("gone")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_only_ordinary_files_are_read(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    assert file_size(tmp_path / "a") == 3
    os.mkfifo(tmp_path / "pipe")
    for other in (tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ValueError, match="not a regular file"):
            file_size(other)
    with pytest.raises(IsADirectoryError):
        file_size(tmp_path)
    with pytest.raises(FileNotFoundError):
        file_size(tmp_path / "none")


def write_pair(folder, second):
    with replacing_together() as writing:
        with writing(folder / "a.txt") as new:
            new.write_text("new a")
        with writing(folder / "b.txt") as new:
            second(new)


@pytest.mark.parametrize("existing", [(), ("a.txt",), ("a.txt", "b.txt")])
@pytest.mark.parametrize("error", [ValueError("b"), OSError(errno.ENOSPC, "no space"), SystemExit(1)])
def test_outputs_are_replaced_together_or_not_at_all(tmp_path, existing, error):
    for name in existing:
        (tmp_path / name).write_text("old")

    def fail(new):
        new.write_text("half")
        raise error

    with pytest.raises(type(error)):
        write_pair(tmp_path, fail)
    assert names(tmp_path) == list(existing)
    assert all((tmp_path / name).read_text() == "old" for name in existing)
    write_pair(tmp_path, lambda new: new.write_text("new b"))
    assert [(tmp_path / name).read_text() for name in names(tmp_path)] == ["new a", "new b"]


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize("existing", [(), ("a.txt",)])
def test_files_get_back_if_the_last_one_cannot_take_its_place(tmp_path, existing, linked, monkeypatch):
    for name in existing:
        (tmp_path / name).write_text("old")

    def no_link(source, target):
        raise PermissionError(errno.EPERM, "this file system has no links")

    if not linked:
        monkeypatch.setattr(os, "link", no_link)

    def obstruct(new):
        new.write_text("new b")
        (tmp_path / "b.txt").mkdir()

    with pytest.raises(OSError, match=r"b\.txt cannot be written"):
        write_pair(tmp_path, obstruct)
    assert names(tmp_path) == [*existing, "b.txt"]
    assert all((tmp_path / name).read_text() == "old" for name in existing)


def test_an_error_of_writing_names_the_output_and_the_reason(tmp_path):
    def fails(number, path):
        raise OSError(number, os.strerror(number), *([path] if path else []))

    for number, path in ((errno.ENOSPC, None), (errno.EFBIG, None), (errno.EDQUOT, "own")):
        said = pytest.raises(OSError, match=rf"a\.txt cannot be written: {os.strerror(number)}$")
        with said, replacing(tmp_path / "a.txt") as new, replacing(new) as inner:
            fails(number, path and str(inner))
    with pytest.raises(OSError, match=r"a\.txt cannot be written: encoder error"), replacing(tmp_path / "a.txt"):
        raise OSError("encoder error")
    with pytest.raises(FileNotFoundError) as caught, replacing(tmp_path / "a.txt"):
        (tmp_path / "input.txt").read_text()
    assert caught.value.filename == str(tmp_path / "input.txt")
    assert names(tmp_path) == []
