// Command inprocess carries out deliveries as the function deliver does, from the
// batches on its input, one a line, and prints what that allocates: a function
// cannot be asked. With -profile it writes a CPU profile of it, too.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"time"

	"github.com/aws/aws-lambda-go/lambda"

	"github.com/content-automation/api/pkg/area/webhook/deliver/run"
	"github.com/content-automation/api/pkg/cloud/awsenv"
	"github.com/content-automation/api/pkg/cloud/metric"
	"github.com/content-automation/api/pkg/cloud/needs"
	"github.com/content-automation/api/pkg/cloud/topology"
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
	handler := lambda.NewHandler(run.New(needs.QueueURL(topology.Deliver), needs.QueueURL(topology.DeliverSlow), nil).Handle)
	if *profile != "" {
		file := awsenv.Must(os.Create(*profile))
		if err := pprof.StartCPUProfile(file); err != nil {
			panic(err)
		}
		defer pprof.StopCPUProfile()
	}
	metric.SetOutput(io.Discard) // the output is for what is measured
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
