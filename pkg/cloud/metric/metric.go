// Package metric counts events for operators, and sets up the log. A count is a line of the log in CloudWatch's
// embedded metric format, which needs no call and no client.
// https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html
//
// SetupLog is called by each main; Count, Add and Measure write metrics.
package metric

import (
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Namespace returns the namespace of CloudWatch for the metrics of a customer's stage: customers may share an AWS
// account, but no alarm.
func Namespace(customer, stage string) string { return "ContentAutomation/" + customer + "/" + stage }

// out is the destination of metrics, which are written one after the other. The output of a function is its log.
var (
	mu  sync.Mutex
	out io.Writer = os.Stdout
)

// SetOutput sets the destination of metrics, and returns the one before. It may be called while others count.
func SetOutput(w io.Writer) (before io.Writer) {
	mu.Lock()
	defer mu.Unlock()
	before, out = out, w
	return before
}

// Count counts one event. A dimension may have only a few values: each combination is a metric that is paid for.
func Count(name, dimension, value string) {
	write(name, map[string]any{name: 1, dimension: value}, []string{dimension})
}

// Add adds n to a metric without a dimension.
func Add(name string, n int64) { write(name, map[string]any{name: n}, []string{}) }

// Measure records a value with a dimension, as in Count.
func Measure(name, dimension, value string, n int64) {
	write(name, map[string]any{name: n, dimension: value}, []string{dimension})
}

// Aside is the metric of items and records that cannot be decoded. Work continues without them.
const Aside = "ItemsPutAside"

// PutAside counts an item or a record that cannot be decoded, and logs the given attributes, for an operator to look
// into.
func PutAside(attributes ...any) {
	Add(Aside, 1)
	slog.Error("put aside", attributes...)
}

// HandledFailures is the metric of failures of work that a function handles itself: a step that is tried again, a task
// that fails, a message that comes again. Lambda counts none of them. It is counted by release, a function with its
// version, and by function, with all its versions. A release that raises it is ended.
const HandledFailures = "HandledFailures"

// Failed counts a failure of work. Outside of Lambda there are no releases, and it counts nothing.
func Failed() {
	name, version := lambdacontext.FunctionName, lambdacontext.FunctionVersion
	if version != "" {
		write(HandledFailures, map[string]any{HandledFailures: 1, "release": name + ":" + version, "function": name},
			[]string{"release"}, []string{"function"})
	}
}

// write writes a line with the members, and the metadata by which CloudWatch reads them, once for each set of
// dimensions. The name of a duration ends in its unit.
func write(name string, members map[string]any, dimensions ...[]string) {
	unit := "Count"
	if strings.HasSuffix(name, "Milliseconds") {
		unit = "Milliseconds"
	}
	members["_aws"] = map[string]any{
		"Timestamp": time.Now().UnixMilli(),
		"CloudWatchMetrics": []any{map[string]any{
			"Namespace": Namespace(os.Getenv("CUSTOMER"), os.Getenv("STAGE")), "Dimensions": dimensions,
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

// SetupLog makes the default log write JSON lines, which the log service indexes, at the level in LOG_LEVEL, or info if
// that has none.
func SetupLog() {
	var level slog.Level
	if err := level.UnmarshalText([]byte(os.Getenv("LOG_LEVEL"))); err != nil {
		level = slog.LevelInfo
	}
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
}
