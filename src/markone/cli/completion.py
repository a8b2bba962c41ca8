"""`markone completion`: what a shell needs to complete commands and options."""

from __future__ import annotations

from typing import Literal


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print a script that lets a shell complete commands and options.

    Examples:

    `markone completion bash > ~/.local/share/bash-completion/completions/markone`

    `markone completion fish > ~/.config/fish/completions/markone.fish`

    For zsh, write it to a file named `_markone` in a folder of `$fpath`.

    Parameters
    ----------
    shell
        bash, zsh or fish.
    """
    from markone.cli import make_app

    print(make_app().generate_completion(shell=shell))
