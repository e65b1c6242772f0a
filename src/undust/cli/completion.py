"""`undust completion`: the script that teaches a shell the commands and options."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the script with which SHELL completes commands, options and file names.

    Save it where your shell looks for such scripts, and open a new shell:

    \b
      undust completion bash > ~/.local/share/bash-completion/completions/undust
      undust completion zsh > "${fpath[1]}/_undust"
      undust completion fish > ~/.config/fish/completions/undust.fish
    """  # noqa: D301 -- click keeps the lines after a \b
    script = get_completion_class(shell)
    if script:
        click.echo(script(ctx.find_root().command, {}, "undust", "_UNDUST_COMPLETE").source())
