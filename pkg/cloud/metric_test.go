package cloud_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/content-automation/api/pkg/cloud/metric"
)

func TestAddIsALineWithoutDimensions(t *testing.T) {
	var b bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&b))
	metric.Add("LostSpendCredits", 42)
	var line struct {
		LostSpendCredits int
		AWS              struct {
			CloudWatchMetrics []struct{ Dimensions [][]string }
		} `json:"_aws"`
	}
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if m := line.AWS.CloudWatchMetrics; line.LostSpendCredits != 42 || len(m) != 1 || len(m[0].Dimensions) != 1 ||
		len(m[0].Dimensions[0]) != 0 {
		t.Errorf("%s", b.Bytes())
	}
}

// CloudWatch counts a line for each set of dimensions.
func TestAFailureCountsForItsReleaseAndItsFunction(t *testing.T) {
	var b bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&b))
	if metric.Failed(); b.Len() > 0 {
		t.Errorf("outside of Lambda it counts %s", b.Bytes())
	}
	name, version := lambdacontext.FunctionName, lambdacontext.FunctionVersion
	lambdacontext.FunctionName, lambdacontext.FunctionVersion = "acme-prod-generate", "7"
	defer func() { lambdacontext.FunctionName, lambdacontext.FunctionVersion = name, version }()
	metric.Failed()
	var line struct {
		HandledFailures   int
		Release, Function string
		AWS               struct {
			CloudWatchMetrics []struct{ Dimensions [][]string }
		} `json:"_aws"`
	}
	if err := json.Unmarshal(b.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	if line.HandledFailures != 1 || line.Release != "acme-prod-generate:7" || line.Function != "acme-prod-generate" ||
		fmt.Sprint(line.AWS.CloudWatchMetrics) != "[{[[release] [function]]}]" {
		t.Errorf("%s", b.Bytes())
	}
}

func TestCountIsALineThatCloudWatchReads(t *testing.T) {
	t.Setenv("CUSTOMER", "acme")
	t.Setenv("STAGE", "beta")
	var b bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&b))
	metric.Count("RepeatedSubmissions", "provider", "fal")
	var line struct {
		RepeatedSubmissions int
		Provider            string
		AWS                 struct {
			Timestamp         int64
			CloudWatchMetrics []struct {
				Namespace  string
				Dimensions [][]string
				Metrics    []struct{ Name, Unit string }
			}
		} `json:"_aws"`
	}
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || bytes.Count(b.Bytes(), []byte("\n")) != 1 {
		t.Fatalf("%s: %v", b.Bytes(), err)
	}
	m := line.AWS.CloudWatchMetrics
	if line.RepeatedSubmissions != 1 || line.Provider != "fal" || line.AWS.Timestamp == 0 || len(m) != 1 ||
		m[0].Namespace != "ContentAutomation/acme/beta" ||
		m[0].Dimensions[0][0] != "provider" || m[0].Metrics[0].Name != "RepeatedSubmissions" ||
		m[0].Metrics[0].Unit != "Count" {
		t.Errorf("%s", b.Bytes())
	}
}

func TestTimesHaveTheirUnit(t *testing.T) {
	var b bytes.Buffer
	defer metric.SetOutput(metric.SetOutput(&b))
	metric.Measure("TaskMilliseconds", "kind", "generate", 1200)
	metric.Add("ProbeMilliseconds", 900)
	if n := bytes.Count(b.Bytes(), []byte(`"Unit":"Milliseconds"`)); n != 2 {
		t.Errorf("%s", b.Bytes())
	}
}

// A writer need not be safe for concurrent use, and lines must not run into each other.
func TestManyMayCountAtATime(t *testing.T) {
	var b bytes.Buffer
	before := metric.SetOutput(&b)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				metric.Add("Calls", 1)
			}
		})
	}
	all.Wait()
	metric.SetOutput(before)
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))
	for _, line := range lines {
		if !json.Valid(line) {
			t.Errorf("%s", line)
		}
	}
	if len(lines) != 400 {
		t.Errorf("%d lines", len(lines))
	}
}
