"""The workbench as a reader uses it: open it, move the slider, switch rules, type a case, download."""

import time

from obliquerules import load_model
from obliquerules.report.workbench import write_workbench

# So long may a file take to arrive, in tenths of a second.
PATIENCE = 100

SET_VALUE = """
arguments[0].value = arguments[1];
arguments[0].dispatchEvent(new Event("input"));
"""

# The browser applies a new width after the command has returned; a painted frame has it.
RESIZED = """
const [width, done] = arguments;
const wait = () => requestAnimationFrame(() => window.innerWidth === width ? requestAnimationFrame(() => done()) : wait());
wait();
"""


class Workbench:
    """A report that is open in the browser."""

    def __init__(self, driver, place):
        self.driver, self.place = driver, place

    def open(self, model, *data, **options):
        """Write the report of a model and open it."""
        path = self.place / "model.html"
        model.report(path, *data, **options)
        self.driver.get(path.as_uri())
        return self

    def show(self, model, rows=None):
        """Write the workbench of a model that no estimator holds, and open it."""
        path = self.place / "model.html"
        write_workbench(model, path, rows)
        self.driver.get(path.as_uri())
        return self

    def run(self, script, *arguments):
        """Run a script in the page."""
        return self.driver.execute_script(script, *arguments)

    def resize(self, width):
        """Give the window a width and wait until the page is laid out for it."""
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        self.driver.execute_async_script(RESIZED, width)

    def find(self, identity):
        return self.driver.find_element("id", identity)

    def text(self, identity):
        return self.find(identity).text

    @property
    def payload(self):
        return self.run("return JSON.parse(document.getElementById('payload').textContent)")

    def within(self, measure):
        """Return how far a measure of the present size may be from what the file says."""
        return self.run("return figures.measures[position()][arguments[0]][1]", measure)

    def predicted_within(self):
        """Return how far the sum of predictions may be from what the file says."""
        return self.run(
            "const given = figures.predicted[state.size], weights = figures.groups.weight.slice(-given.length || Infinity);"
            "const reach = (figure) => Math.max(...(many ? figure.map(([, within]) => within) : [figure[1]]));"
            "return sum(given.map((figure, index) => weights[index] * reach(figure)), Number)"
        )

    def choose(self, index):
        """Move the slider to one of its sizes, by the keyboard."""
        slider = self.find("size")
        slider.send_keys("\ue011")  # Home
        for _ in range(index):
            slider.send_keys("\ue014")  # arrow right
        assert slider.get_property("value") == str(index)

    def toggle(self, rule):
        """Switch a rule off or on, by the keyboard."""
        self.find(f"rule-{rule}-switch").send_keys(" ")

    def measures(self):
        """Return the figures that follow the rules, in full."""
        nodes = self.driver.find_elements("css selector", "#figures dd[data-value]")
        return {node.get_attribute("data-measure"): float(node.get_attribute("data-value")) for node in nodes}

    def figure(self, name):
        """Return a figure as it is shown."""
        return self.driver.find_element("css selector", f"#figures dd[data-measure='{name}']").text

    def type_case(self, values):
        """Fill in the form; a value is left out by None."""
        for column, value in values.items():
            field = self.find(f"value-{column}")
            if field.tag_name == "select":
                self.choose_entry(column, "missing" if value is None else value)
            elif field.get_attribute("type") == "checkbox":
                if field.is_selected() != (value == 1.0):
                    field.send_keys(" ")
            elif field.get_attribute("type") == "number":
                field.clear()
                if value is not None:
                    field.send_keys(repr(float(value)))
            else:  # how a date is typed depends on the language of the browser
                self.run(SET_VALUE, field, value or "")

    def entries(self, column):
        """Return the entries of a menu."""
        return self.run("return [...arguments[0].options].map((entry) => entry.textContent)", self.find(f"value-{column}"))

    def choose_entry(self, column, text):
        """Choose from a menu, by the keyboard."""
        field = self.find(f"value-{column}")
        field.send_keys("\ue011")  # Home
        for _ in range(self.entries(column).index(text)):
            field.send_keys("\ue015")  # arrow down
        assert self.run("return arguments[0].selectedOptions[0].textContent", field) == text

    def columns(self):
        """Return the columns that the form asks for."""
        inputs = self.driver.find_elements("css selector", "#case [id^='value-']")
        return [int(field.get_attribute("id").removeprefix("value-")) for field in inputs]

    def answer(self):
        """Return prediction and score in full."""
        node = self.find("answer")
        return float(node.get_attribute("data-value")), float(node.get_attribute("data-score"))

    def class_answer(self):
        """Return the probabilities and the scores of many classes in full."""
        node = self.find("answer")
        return [[float(number) for number in node.get_attribute(name).split(",")] for name in ("data-value", "data-score")]

    def give(self, index, value):
        """Fill in an exposure or offset; None leaves it out."""
        field = self.find(f"offset-{index}")
        field.clear()
        if value is not None:
            field.send_keys(repr(float(value)))

    def choose_from(self, identity, text):
        """Choose from a menu that is no field of the case."""
        field = self.find(identity)
        for entry in field.find_elements("tag name", "option"):
            if entry.text == text:
                entry.click()
                return
        raise AssertionError(f"{text} is not in the menu")

    def table(self, identity):
        """Return the cells of the lines of a table as they are shown."""
        lines = self.driver.find_elements("css selector", f"#{identity} tbody tr")
        return [[cell.text for cell in line.find_elements("css selector", "th, td")] for line in lines]

    def decide_at(self, percent):
        """Type a threshold."""
        field = self.find("threshold-number")
        field.clear()
        field.send_keys(str(percent))

    def decisions(self):
        """Return the figures that follow from the threshold, in full; NaN for a share of nothing."""
        nodes = self.driver.find_elements("css selector", "#decision dd[data-decision]")
        return {node.get_attribute("data-decision"): float(node.get_attribute("data-value") or "nan") for node in nodes}

    def band_lines(self):
        """Return the lines of the band tables as they are shown, without odds ratios."""
        tables = self.driver.find_elements("css selector", "#bands table")
        return [[_cells(line) for line in table.find_elements("css selector", "tbody tr")] for table in tables]

    def download(self):
        """Press the button and return the model that arrives."""
        self.find("download").click()
        path = self.place / "downloads" / "model.json"
        for _ in range(PATIENCE):
            if path.exists() and path.stat().st_size:  # the browser makes the file before it writes it
                break
            time.sleep(0.1)
        model = load_model(path)
        path.unlink()
        return model


def _cells(line):
    """Return the words of a band and its sum."""
    words = line.find_element("css selector", "th").text
    return words.replace("−", "-"), line.find_element("css selector", ".weight").text.split("×")[0].strip().replace("−", "-")
