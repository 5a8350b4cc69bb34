// Command deliver is the Lambda function that carries out attempts at webhooks.
package main

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook"
	"github.com/content-automation/api/pkg/webhook/awsdest"
)

// gcPercent lets the heap grow to five times what is live before it is collected:
// that is a few megabytes of the function's memory, and a delivery leaves 0.1 MB
// behind. It saves a sixth of the CPU time.
const gcPercent = 400

// processors is how many threads run Go code at a time. The function's memory pays for
// a third of a core: to share that among the two that the machine shows costs a tenth
// of the CPU time, in threads that wake each other.
const processors = 1

func main() {
	logging.Setup()
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(processors)
	cfg := awsenv.Must(awsenv.Config())
	loopback := awsenv.Must(safehttp.AllowLoopback(os.Getenv("ALLOW_LOOPBACK_WEBHOOKS"), awsenv.Need("STAGE")))
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	signer := awsenv.Must(media.NewSigner(cfg, awsenv.Need("MEDIA_BUCKET"), time.Now))
	deliveries := sqsqueue.New(sqs.NewFromConfig(cfg), awsenv.Need("DELIVER_QUEUE_URL"))
	random := webhook.Randomness{Chance: mathrand.Float64, Name: rand.Text}
	lambda.Start(webhook.NewDeliverer(db, signer, webhook.NewClient(loopback), awsdest.New(cfg), deliveries, queue.Beat, time.Now, random).Handle)
}
