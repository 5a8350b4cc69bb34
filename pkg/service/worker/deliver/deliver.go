// Package deliver connects the functions that deliver webhooks: deliver, which gets all deliveries, and deliver-slow,
// to which it passes on those whose receivers take long to answer.
package deliver

import (
	"crypto/rand"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/area/webhook/deliver"
	"github.com/content-automation/api/pkg/area/webhook/endpoint"
	"github.com/content-automation/api/pkg/base/backoff"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/logging"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/cloud/seal/kmsseal"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/service/worker"
	"github.com/content-automation/api/pkg/store"
)

// gcPercent lets the heap grow to five times what is live before it is collected: a few megabytes of the function's
// memory, at 0.04 MB a delivery. It saves a sixth of the CPU time.
const gcPercent = 400

// processors is how many threads run Go code at a time. The function's memory pays for a third of a core: sharing that
// among the two cores of the machine costs a tenth of the CPU time, in threads that wake each other.
const processors = 1

// Handlers returns the handlers of the functions.
func Handlers(d *deliver.Deliverer) worker.Handlers {
	return worker.Handlers{endpoint.DeliverKind: d, endpoint.WakeKind: deliver.NewWaker(d.DB, d.Now)}
}

// Open prepares the process of a function, and returns its deliverer. With slow it serves slow receivers. toAWS makes
// the sender to AWS accounts; it may be nil where no such deliveries come, as they are never passed on. Open panics
// where something is missing, so that a deployment fails.
func Open(slow bool, toAWS func(aws.Config) deliver.AWSSender) (aws.Config, *deliver.Deliverer) {
	logging.Setup()
	debug.SetGCPercent(gcPercent)
	runtime.GOMAXPROCS(processors)
	cfg, n := awsenv.Must(awsenv.Config()), needs.Read[needs.Deliver]()
	c := deliver.Config{
		DB:       store.Open(cfg, n.Table),
		Signer:   awsenv.Must(media.NewSigner(cfg, n.Bucket, time.Now)),
		Client:   endpoint.NewClient(awsenv.Must(safehttp.AllowLoopback(n.AllowLoopback, n.Stage))),
		Envelope: seal.NewEnvelope(kmsseal.New(cfg, n.SecretsKey, endpoint.SealPurpose), time.Now),
		Slow:     slow, Now: time.Now, Chance: backoff.Chance, Name: rand.Text,
	}
	if toAWS != nil {
		c.AWS = toAWS(cfg)
	}
	return cfg, deliver.New(c)
}
