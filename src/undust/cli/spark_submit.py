"""`undust learn` for spark-submit, which takes a file and not a command.

    spark-submit --master yarn "$(python -m undust.cli.spark_submit)" s3a://crawl/ -o rules.json

The options are those of `undust learn`; the cluster is the one given to spark-submit. Run in any other
way, it prints its path.
"""

import os
import sys
from pathlib import Path

if __name__ == "__main__":
    here = str(Path(__file__).resolve().parent)
    if "PYSPARK_GATEWAY_PORT" not in os.environ:
        sys.stdout.write(f"{Path(__file__).resolve()}\n")
        sys.exit()
    # Python looks beside the file that it runs first, where modules have names that others have too.
    sys.path[:] = [folder for folder in sys.path if str(Path(folder).resolve()) != here]

    from undust.cli import main

    sys.argv = ["undust", "learn", "--engine", "spark", *sys.argv[1:]]
    main()
