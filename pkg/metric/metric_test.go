package metric

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestCountIsALineThatCloudWatchReads(t *testing.T) {
	var b bytes.Buffer
	was := out
	out = &b
	defer func() { out = was }()
	Count("RepeatedSubmissions", "provider", "fal")
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
	if line.RepeatedSubmissions != 1 || line.Provider != "fal" || line.AWS.Timestamp == 0 || len(m) != 1 || m[0].Namespace != Namespace ||
		m[0].Dimensions[0][0] != "provider" || m[0].Metrics[0].Name != "RepeatedSubmissions" || m[0].Metrics[0].Unit != "Count" {
		t.Errorf("%s", b.Bytes())
	}
}
