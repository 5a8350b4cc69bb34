package bedrock

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/testdata/providers/control"
)

const handle = provider.Handle("arn:aws:bedrock:us-west-2:000000000000:async-invoke/abcdef123456")

func TestAVideoIsStartedOnceHoweverOftenItIsSubmitted(t *testing.T) {
	w := newWorld(t, "us-west-2")
	req := of(t, film, "A bay")
	w.control.Queue(Name, control.Submit, control.Fault{Kind: control.DropAfterAccept})
	if _, err := w.Submit(t.Context(), req); provider.KindOf(err) != provider.Transient {
		t.Fatalf("after a lost answer: %v", err)
	}
	first, err := w.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if accepted := w.control.Accepted(); len(accepted) != 1 || accepted[0].ID != string(first.Handle) {
		t.Errorf("begun were %+v, and followed is %s", accepted, first.Handle)
	}
	req.Prompt = "Another bay"
	if _, err := w.Submit(t.Context(), req); provider.KindOf(err) != provider.BadInput {
		t.Errorf("another request with the same token: %v", err)
	}
}

func TestVideosTakeCertainLengths(t *testing.T) {
	w := newWorld(t, "us-west-2")
	for seconds, want := range map[int]string{0: "5s", 5: "5s", 9: "9s"} {
		w.control.Reset()
		req := of(t, film, "A bay")
		req.Seconds, req.ClientToken = seconds, want+time.Now().String()
		if _, err := w.Submit(t.Context(), req); err != nil {
			t.Errorf("%d s: %v", seconds, err)
			continue
		}
		if input := w.control.Accepted()[0].Input["modelInput"].(map[string]any); input["duration"] != want ||
			input["resolution"] != "720p" {
			t.Errorf("%d s: sent %v", seconds, input)
		}
	}
	for _, seconds := range []int{1, 4, 6, 8} {
		req := of(t, film, "A bay")
		req.Seconds = seconds
		if _, err := w.Submit(t.Context(), req); provider.KindOf(err) != provider.BadInput {
			t.Errorf("%d s: %v", seconds, err)
		}
	}
	req := of(t, film, "A bay")
	req.Model = "acme.films-v1"
	if _, err := w.Submit(t.Context(), req); provider.KindOf(err) != provider.BadInput {
		t.Errorf("another model: %v", err)
	}
}

func TestResultsAreReadFromOurBucketAlone(t *testing.T) {
	w := newWorld(t, "us-west-2")
	for uri, want := range map[string]string{
		"s3://media-bucket/raw/bedrock/abcdef123456":       "raw/bedrock/abcdef123456/output.mp4",
		"s3://media-bucket/raw/bedrock/abcdef123456/":      "raw/bedrock/abcdef123456/output.mp4",
		"s3://media-bucket/raw/bedrock":                    "raw/bedrock/abcdef123456/output.mp4",
		"s3://another-bucket/raw/bedrock/abcdef123456":     "",
		"s3://media-bucket/media/acc_1/abcdef123456":       "",
		"s3://media-bucket/raw/bedrock/../../abcdef123456": "",
		"https://media-bucket/raw/bedrock/abcdef123456":    "",
		"": "",
	} {
		out := invocationOutput{}
		out.Output.S3.URI = uri
		got, err := w.key(handle, out)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v; want %q", uri, got, err, want)
		}
	}
	if key, err := w.key(handle, invocationOutput{}); err == nil {
		t.Errorf("without an output: %s", key)
	}
}

func TestResultsThatCannotBeRead(t *testing.T) {
	w := newWorld(t, "us-west-2")
	submission, err := w.Submit(t.Context(), of(t, film, "A bay"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.Fetch(t.Context(), submission.Handle)
	var e *provider.Error
	if !errors.As(err, &e) || e.Kind != provider.Transient || e.Code != "not_ready" || e.RetryAfter != pollAfter {
		t.Errorf("before its end: %v", err)
	}
	w.advance(time.Hour)
	result, err := w.Fetch(t.Context(), submission.Handle)
	if err != nil {
		t.Fatal(err)
	}
	for want, arrange := range map[provider.ErrorKind]func(){
		provider.Rejected:  func() { clear(w.bucket.objects) },
		provider.Transient: func() { w.bucket.err = errors.New("slow down") },
	} {
		w.bucket.err = nil
		arrange()
		if _, err := result.Media[0].Open(t.Context()); !errors.As(err, &e) || e.Kind != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestFailuresTellWhetherContentWasToBlame(t *testing.T) {
	for message, want := range map[string]string{
		"The prompt was blocked by our content moderation.":                                                "content_policy",
		"This request has been blocked by our content filters. Please adjust your prompt.":                 "content_policy",
		"The generated video has been filtered because it conflicts with our AUP or Responsible AI policy": "content_policy",
		"An internal error occurred.": "generation_failed",
		"":                            "generation_failed",
	} {
		e := failure(invocationOutput{Failure: message})
		if e.Kind != provider.Rejected || e.Code != want || strings.Contains(e.Message, "blocked") {
			t.Errorf("%q: %v", message, e)
		}
	}
}

func TestStrangeAnswersToVideos(t *testing.T) {
	answer := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	p := at(server.URL, "us-west-2", &bucket{})
	for _, answer = range []string{`{}`, `{"invocationArn": "arn:aws:s3:::secrets"}`} {
		if submission, err := p.Submit(t.Context(),
			of(t, film, "x")); provider.KindOf(err) != provider.Transient {
			t.Errorf("%s: %+v, %v", answer, submission, err)
		}
	}
	for _, answer = range []string{`{}`, `{"status": "Levitating"}`} {
		if status, err := p.Poll(t.Context(), handle); provider.KindOf(err) != provider.Transient {
			t.Errorf("%s: %+v, %v", answer, status, err)
		}
	}
	answer = `{"status": "Completed", "outputDataConfig": {"s3OutputDataConfig": {"s3Uri": "s3://elsewhere/raw"}}}`
	if result, err := p.Fetch(t.Context(), handle); provider.KindOf(err) != provider.Rejected {
		t.Errorf("%s: %+v, %v", answer, result, err)
	}
}
