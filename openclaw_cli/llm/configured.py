"""Which chat endpoint the configuration names."""

from __future__ import annotations

from openclaw_cli.config import Config, secret
from openclaw_cli.errors import ConfigError
from openclaw_cli.llm.protocol import Endpoint


def endpoint(config: Config, *sections: str) -> Endpoint | None:
    """Return the endpoint of the first section that names one, None when none does.

    A section is taken as a whole, so that no key goes to the server of another one. Raises
    `ConfigError` for one that is incomplete or whose ``baseUrl`` is no web address.
    """
    for section in sections:
        base = config.optional_text(f"{section}.baseUrl")
        model = config.optional_text(f"{section}.model")
        if base is None and model is None:
            continue
        if not base or not model:
            given, missing = ("model", "baseUrl") if not base else ("baseUrl", "model")
            raise ConfigError(
                f"{section}.{given} is set and {section}.{missing} is not",
                hint=f"set {section}.{missing}, or neither",
            )
        _check(f"{section}.baseUrl", base)
        key = secret(config.text(f"{section}.apiKeyEnv"))
        return Endpoint(base, model, key, float(config.integer(f"{section}.timeout")))
    return None


def _check(name: str, url: str) -> None:
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0]
    if scheme not in ("http", "https") or not host or not url.isascii() or " " in url:
        raise ConfigError(
            f"{name} is no web address", hint="write it as in https://api.openai.com/v1"
        )
    if "@" in host:
        raise ConfigError(
            f"{name} holds a name or a password",
            hint="keep the key in an environment variable and name that in apiKeyEnv",
        )
