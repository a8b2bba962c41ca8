"""`markone completion`: scripts with which a shell completes commands and options."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that lets a shell complete commands and options.

    Bash reads it from `~/.local/share/bash-completion/completions/markone`, fish from
    `~/.config/fish/completions/markone.fish`, and zsh from a file `_markone` in a folder of `$fpath`.

    Example: `markone completion fish > markone.fish`

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from markone.cli.app import make_app

    print(make_app().generate_completion(shell=shell))
