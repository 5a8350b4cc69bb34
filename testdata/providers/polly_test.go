package main_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/polly"
)

var media = fstest.MapFS{"voice.mp3": &fstest.MapFile{Data: []byte("ID3")}}

const (
	pollySignature = "AWS4-HMAC-SHA256 Credential=AKIA/20261121/eu-central-1/polly/aws4_request, " +
		"SignedHeaders=content-type;host;x-amz-date, " +
		"Signature=0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	speak      = "POST /v1/speech"
	pollyStart = "POST /v1/synthesisTasks"
)

func TestStrictnessOfPolly(t *testing.T) {
	const (
		ok   = `"Engine":"neural","OutputFormat":"mp3","Text":"Hello","VoiceId":"Amy"`
		into = `,"OutputS3BucketName":"media","OutputS3KeyPrefix":"raw/a"`
	)
	for name, c := range map[string]struct {
		operation, body, auth string
		status                int
		code                  string
	}{
		"speech": {speak, ok, pollySignature, 200, ""},
		"speech and a language": {speak, ok + `,"LanguageCode":"en-GB","TextType":"text","SampleRate":"24000"`,
			pollySignature, 200, ""},
		"a task": {pollyStart, ok + into, pollySignature, 200, ""},
		"a long task": {pollyStart, strings.Replace(ok, "Hello", strings.Repeat("x", 100_000), 1) + into,
			pollySignature, 200, ""},
		"the standard engine": {speak, `"OutputFormat":"mp3","Text":"Hello","VoiceId":"Amy"`, pollySignature, 200, ""},
		"no signature":        {speak, ok, "", 403, "MissingAuthenticationTokenException"},
		"one for something else": {speak, ok, strings.Replace(pollySignature, "/polly/", "/s3/", 1), 403,
			"IncompleteSignatureException"},
		"no text": {speak, `"OutputFormat":"mp3","VoiceId":"Amy"`, pollySignature, 400,
			"ValidationException"},
		"no voice": {speak, `"OutputFormat":"mp3","Text":"Hello"`, pollySignature, 400,
			"ValidationException"},
		"no such voice": {speak, strings.Replace(ok, "Amy", "Amie", 1), pollySignature, 400,
			"ValidationException"},
		"no such engine": {speak, strings.Replace(ok, "neural", "opera", 1), pollySignature, 400,
			"ValidationException"},
		"a voice of other engine": {speak, strings.Replace(ok, "Amy", "Marlene", 1), pollySignature, 400,
			"EngineNotSupportedException"},
		"another language": {speak, ok + `,"LanguageCode":"en-US"`, pollySignature, 400,
			"LanguageNotSupportedException"},
		"another format": {speak, strings.Replace(ok, "mp3", "pcm", 1), pollySignature, 400, "ValidationException"},
		"marks of no type": {speak, strings.Replace(ok, "mp3", "json", 1), pollySignature, 400,
			"ValidationException"},
		"marks of words": {speak, strings.Replace(ok, "mp3", "json", 1) + `,"SpeechMarkTypes":["word"]`,
			pollySignature, 200, ""},
		"no such rate": {speak, ok + `,"SampleRate":"1"`, pollySignature, 400, "InvalidSampleRateException"},
		"marks": {speak, ok + `,"SpeechMarkTypes":["word"]`, pollySignature, 400,
			"MarksNotSupportedForFormatException"},
		"a lexicon": {speak, ok + `,"LexiconNames":["x"]`, pollySignature, 400, "LexiconNotFoundException"},
		"too long for speech": {speak, strings.Replace(ok, "Hello", strings.Repeat("x", 3001), 1), pollySignature, 400,
			"TextLengthExceededException"},
		"too long for a task": {pollyStart, strings.Replace(ok, "Hello", strings.Repeat("x", 100_001), 1) + into,
			pollySignature, 400, "TextLengthExceededException"},
		"no bucket": {pollyStart, ok, pollySignature, 400, "InvalidS3BucketException"},
		"no such bucket": {pollyStart, ok + `,"OutputS3BucketName":"Media Bucket"`, pollySignature, 400,
			"InvalidS3BucketException"},
		"no such prefix": {pollyStart, ok + `,"OutputS3BucketName":"media","OutputS3KeyPrefix":"a b"`, pollySignature,
			400, "InvalidS3KeyException"},
		"a topic": {pollyStart, ok + into + `,"SnsTopicArn":"x"`, pollySignature, 400,
			"InvalidSnsTopicArnException"},
		"a bucket for speech": {speak, ok + into, pollySignature, 400, "SerializationException"},
		"an unknown member":   {speak, ok + `,"Volume":"loud"`, pollySignature, 400, "SerializationException"},
		"a number for a text": {speak, ok + `,"SampleRate":24000`, pollySignature, 400, "SerializationException"},
		"another operation":   {"GET /v1/voices", "", pollySignature, 404, "UnknownOperation"},
		"an unknown task":     {"GET /v1/synthesisTasks/x", "", pollySignature, 400, "SynthesisTaskNotFoundException"},
	} {
		log := control.New()
		method, path, _ := strings.Cut(c.operation, " ")
		w := httptest.NewRecorder()
		polly.New(polly.Config{Control: log, Media: media, Now: time.Now}).ServeHTTP(w,
			pollyRequest(method, path, "{"+c.body+"}", c.auth))
		if w.Code != c.status || w.Header().Get("X-Amzn-Errortype") != c.code {
			t.Errorf("%s: %d %s, want %d %s: %.200s", name, w.Code, w.Header().Get("X-Amzn-Errortype"), c.status,
				c.code, w.Body)
		}
		if n := len(log.Accepted()); (n == 1) != (c.status == 200) {
			t.Errorf("%s: %d accepted", name, n)
		}
	}
}

func TestFilesOfTasksAreWrittenOnce(t *testing.T) {
	for name, fails := range map[string]error{"completed": nil, "failed": errors.New("denied")} {
		now := time.Now()
		written, log := map[string]string{}, control.New()
		f := polly.New(polly.Config{
			Control: log, Media: media, Took: time.Second,
			Now: func() time.Time { return now },
			Write: func(_ context.Context, bucket, key string, content []byte) error {
				written[bucket+"/"+key] += string(content)
				return fails
			},
		})
		call := func(method, path, body string) string {
			w := httptest.NewRecorder()
			f.ServeHTTP(w, pollyRequest(method, path, body, pollySignature))
			return w.Body.String()
		}
		begun := call("POST", "/v1/synthesisTasks",
			`{"OutputFormat":"mp3","Text":"Hello","VoiceId":"Amy","OutputS3BucketName":"media","OutputS3KeyPrefix":"raw/a"}`)
		if !strings.Contains(begun, `"scheduled"`) || len(written) != 0 {
			t.Errorf("begun: %s, written %v", begun, written)
		}
		id := log.Accepted()[0].ID
		now = now.Add(time.Second)
		for range 2 {
			if got := call("GET", "/v1/synthesisTasks/"+id, ""); !strings.Contains(got, `"`+name+`"`) ||
				!strings.Contains(got, "https://s3.eu-central-1.amazonaws.com/media/raw/a."+id+".mp3") {
				t.Errorf("want it %s: %s", name, got)
			}
		}
		if len(written) != 1 || written["media/raw/a."+id+".mp3"] != "ID3" {
			t.Errorf("written: %v", written)
		}
	}
}

func pollyRequest(method, path, body, auth string) *http.Request {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Amz-Date", "20261121T120000Z")
	if auth != "" {
		r.Header.Set("Authorization", auth)
	}
	return r
}
