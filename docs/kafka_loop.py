"""A learner at the end of one partition of a Kafka topic, without Spark:

    python kafka_loop.py SERVERS TOPIC PARTITION FOLDER [STOP]

The model, the offset up to which it learned, and the length of what was written stand in one file, which is replaced whole.
Whenever the process dies, the next one goes on from that file: what was learned later is learned again, from the same
model and the same messages in the same order; what was written later is cut off and written again, to the same bytes.
"""

import json
import os
import sys
from pathlib import Path

from confluent_kafka import Consumer, TopicPartition

import burkholder as bk
from burkholder.storage import load_with_extra


def main(servers: str, topic: str, partition: str, folder: str, stop: str = "inf") -> None:
    model, told = Path(folder, "model.bk"), Path(folder, "predictions.jsonl")
    if model.exists():
        learner, extra = load_with_extra(model)
    else:
        learner, extra = bk.Learner("adagrad", loss="absolute", radius=2.0), {"offset": 0, "written": 0}
    # the offset is ours: nothing is committed to the broker, and no group takes the partition away
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "burkholder", "enable.auto.commit": False})
    consumer.assign([TopicPartition(topic, int(partition), extra["offset"])])
    with open(told, "ab") as out:
        out.truncate(extra["written"])  # what a process that died wrote after its last save is written again
        out.seek(0, os.SEEK_END)
        while learner.rounds < float(stop):
            offset = None
            for message in consumer.consume(200, timeout=1.0):
                if message.error():
                    raise SystemExit(str(message.error()))
                row = json.loads(message.value())
                prediction = learner.predict(row["x"])  # before the label is looked at
                learner.update(row["x"], row["y"])
                offset = message.offset() + 1
                out.write(json.dumps({"offset": message.offset(), "prediction": prediction}).encode() + b"\n")
            if offset is not None:
                out.flush()
                os.fsync(out.fileno())  # the predictions are on disk before the model that says so
                bk.save(learner, model, {"offset": offset, "written": out.tell()})
    consumer.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
