"""The data of a report, read back from its file."""

import json


def payload(path):
    """Return what the page is made of."""
    return json.loads(path.read_text(encoding="utf-8").partition('id="payload">')[2].partition("</script>")[0])
