// Command compose is the Lambda function that makes finished media of generated parts.
package main

import (
	"crypto/rand"
	"os"
	"runtime"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/backoff"
	"github.com/content-automation/api/pkg/compose"
	"github.com/content-automation/api/pkg/compose/stored"
	"github.com/content-automation/api/pkg/content/item"
	"github.com/content-automation/api/pkg/generate"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media/objects"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
	"github.com/content-automation/api/pkg/topology"
)

func main() {
	logging.Setup()
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Compose]()
	files, dir := objects.New(cfg, n.Bucket), awsenv.Must(stored.Scratch(os.TempDir()))
	engine := awsenv.Must(compose.New(compose.Settings{FFmpeg: n.FFmpeg, Fonts: n.Fonts, Scratch: dir, Threads: runtime.NumCPU()}))
	worker := &generate.Worker{
		DB: store.Open(cfg, n.Table), Loaders: map[string]generate.Loader{item.ItemKind: item.Loader{}}, Objects: files, Now: time.Now,
		Composer: &stored.Composer{Engine: engine, Objects: files, Dir: dir},
	}
	kernel := task.NewKernel(task.Config{DB: worker.DB, Handlers: worker.Handlers(), Now: time.Now, Name: rand.Text, Chance: backoff.Chance})
	lambda.Start(task.NewConsumer(kernel, sqsqueue.Open(cfg, needs.QueueURLs([]topology.Queue{topology.Compose})), queue.Ticker).Handle)
}
