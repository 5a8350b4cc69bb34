// Package metric counts what operators watch. A count is a line of the log in
// CloudWatch's embedded metric format, which needs no call and no client.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
package metric

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"
)

// Namespace returns where CloudWatch shows the counts of a customer's stage: customers may
// share an AWS account, but no alarm.
func Namespace(customer, stage string) string { return "ContentAutomation/" + customer + "/" + stage }

// out is where counts are written, one after the other: the log of a function is its
// standard output.
var (
	mu  sync.Mutex
	out io.Writer = os.Stdout
)

// SetOutput sets where the counts of the process are written, and returns where they were.
// It may be called while others count.
func SetOutput(w io.Writer) (before io.Writer) {
	mu.Lock()
	defer mu.Unlock()
	before, out = out, w
	return before
}

// Count counts one event. A dimension may have few values only: each combination
// is a metric that is paid for.
func Count(name, dimension, value string) {
	write(name, map[string]any{name: 1, dimension: value}, []string{dimension})
}

// Add counts n of something, without a dimension.
func Add(name string, n int64) { write(name, map[string]any{name: n}, []string{}) }

// Measure notes how much of something there was in one case, with a dimension as Count
// has it.
func Measure(name, dimension, value string, n int64) {
	write(name, map[string]any{name: n, dimension: value}, []string{dimension})
}

// Aside counts the items and records that cannot be decoded. Work goes on without them.
const Aside = "ItemsPutAside"

// PutAside counts an item or a record that cannot be decoded, and names it in the log by
// the given attributes, for an operator to look into.
func PutAside(attributes ...any) {
	Add(Aside, 1)
	slog.Error("put aside", attributes...)
}

// write writes a line with the members, and how CloudWatch is to read them. The name of a
// time ends in its unit.
func write(name string, members map[string]any, dimensions []string) {
	unit := "Count"
	if strings.HasSuffix(name, "Milliseconds") {
		unit = "Milliseconds"
	}
	members["_aws"] = map[string]any{
		"Timestamp": time.Now().UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": Namespace(os.Getenv("CUSTOMER"), os.Getenv("STAGE")), "Dimensions": [][]string{dimensions},
			"Metrics": []any{map[string]string{"Name": name, "Unit": unit}},
		}},
	}
	line, err := json.Marshal(members)
	if err == nil {
		mu.Lock()
		_, err = out.Write(append(line, '\n'))
		mu.Unlock()
	}
	if err != nil {
		slog.Error("metric lost", "name", name, "error", err)
	}
}
