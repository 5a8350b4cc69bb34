// Package lane starts the functions that deliver webhooks: deliver, which gets all
// deliveries, and deliver-slow, to which it passes on those whose receivers take
// long to answer.
package lane

import (
	"crypto/rand"
	mathrand "math/rand/v2"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/logging"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/needs"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/safehttp"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook"
)

// gcPercent lets the heap grow to five times what is live before it is collected:
// that is a few megabytes of the function's memory, and a delivery leaves 0.04 MB
// behind. It saves a sixth of the CPU time.
const gcPercent = 400

// processors is how many threads run Go code at a time. The function's memory pays for
// a third of a core: to share that among the two that the machine shows costs a tenth
// of the CPU time, in threads that wake each other.
const processors = 1

// Start delivers what the queue at the address own brings. What goes to slow receivers
// is passed on to the queue at the address slow; where that is empty, nothing is. What
// goes to AWS accounts is sent by what toAWS makes: it may be nil where no such
// deliveries come, as they are never passed on. It does not return; it panics at the
// start where something is missing, so that a deployment notices.
func Start(own, slow string, toAWS func(aws.Config) webhook.AWSSender) {
	logging.Setup()
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(processors)
	lambda.Start(New(own, slow, toAWS).Handle)
}

// New makes the deliverer that Start starts.
func New(own, slow string, toAWS func(aws.Config) webhook.AWSSender) *webhook.Deliverer {
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Deliver]()
	loopback := awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))
	db := store.Open(cfg, n.Table)
	signer := awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now))
	queues := sqs.NewFromConfig(cfg)
	var next queue.Sender
	if slow != "" {
		next = sqsqueue.New(queues, slow)
	}
	var sender webhook.AWSSender
	if toAWS != nil {
		sender = toAWS(cfg)
	}
	random := webhook.Randomness{Chance: mathrand.Float64, Name: rand.Text}
	return webhook.NewDeliverer(db, signer, webhook.NewClient(loopback), sender, sqsqueue.New(queues, own), next, queue.Beat, time.Now, random)
}
