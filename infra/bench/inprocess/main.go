// Command inprocess carries out deliveries as the function deliver does, from the
// batches on its input, one a line, and tells what that allocates: a function
// cannot be asked. With -profile it writes a CPU profile of it, too.
package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"github.com/content-automation/api/pkg/awsenv"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/queue"
	"github.com/content-automation/api/pkg/queue/sqsqueue"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/webhook"
	"github.com/content-automation/api/pkg/webhook/awsdest"
)

func main() {
	profile := flag.String("profile", "", "file for a CPU profile")
	flag.Parse()
	var batches [][]byte
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		batches = append(batches, line)
	}
	handler := deliverer()
	if *profile != "" {
		file := awsenv.Must(os.Create(*profile))
		if err := pprof.StartCPUProfile(file); err != nil {
			panic(err)
		}
		defer pprof.StopCPUProfile()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, batch := range batches {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		awsenv.Must(handler.Invoke(ctx, batch))
		cancel()
	}
	runtime.ReadMemStats(&after)
	b := awsenv.Must(json.Marshal(map[string]uint64{
		"allocations": after.Mallocs - before.Mallocs, "bytes": after.TotalAlloc - before.TotalAlloc,
	}))
	fmt.Println(string(b))
}

// deliverer makes the handler as functions/deliver does.
func deliverer() lambda.Handler {
	cfg := awsenv.Must(awsenv.Config())
	db := store.Open(cfg, awsenv.Need("TABLE_NAME"))
	signer := awsenv.Must(media.NewSigner(cfg, awsenv.Need("MEDIA_BUCKET"), time.Now))
	deliveries := sqsqueue.New(sqs.NewFromConfig(cfg), awsenv.Need("DELIVER_QUEUE_URL"))
	random := webhook.Randomness{Chance: mathrand.Float64, Name: rand.Text}
	return lambda.NewHandler(webhook.NewDeliverer(db, signer, webhook.NewClient(true), awsdest.New(cfg), deliveries, queue.Beat, time.Now, random).Handle)
}
