"""The command line that the TPP peers share. It loads no other package, because BLAS and OpenMP read the number of threads once, when
they are loaded; torch.set_num_threads does not reach a pthread OpenBLAS."""

import argparse
import os


def parse(description, *flags):
    """The arguments, with the threads already set. `flags` are names and explanations of what one program has alone."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("data", help="the graph, an .npz of the gnn-benchmark layout")
    parser.add_argument("stream", help="the folder that `treering data stream DATA -o FOLDER` wrote")
    parser.add_argument("--seed", type=int, default=0, help="seed of initialisation, augmentation and patching")
    parser.add_argument("--threads", type=int, default=1)
    for flag, explanation in flags:
        parser.add_argument(flag, action="store_true", help=explanation)
    parser.add_argument("--json", metavar="OUT.json", help="also write the result here")
    parser.add_argument("--epochs", type=int, default=200, help="of prompts and heads, per task [default: 200]")
    parser.add_argument("--pretrain-epochs", type=int, default=200, help="of the encoder [default: 200]")
    parser.add_argument(
        "--budget", type=int, metavar="NODES",
        help="contrast at most so many nodes in an epoch of pre-training, drawn anew for each [default: all]",
    )
    arguments = parser.parse_args()
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = str(arguments.threads)
    return arguments
