// Package polly is a fake of Amazon Polly: SynthesizeSpeech and the tasks, in the REST-JSON
// protocol of the SDKs. It checks requests more strictly than the service. The speech is the
// same real file for every text.
package polly

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/content-automation/api/testdata/providers/control"
	"github.com/content-automation/api/testdata/providers/sample"
	"github.com/content-automation/api/testdata/providers/strict"
)

// Name is the provider's name in faults.
const Name = "polly"

// file is the name of the speech.
const file = "voice.mp3"

// Config configures a fake.
type Config struct {
	Control *control.Control
	Media   fs.FS // has voice.mp3
	Now     func() time.Time
	Took    time.Duration // the time that a task takes; 0 means control.JobTime
	// Write puts an object into the bucket of a caller, as Polly does with the
	// caller's permissions.
	Write func(ctx context.Context, bucket, key string, content []byte) error
}

type fake struct {
	Config
	tasks *control.Jobs[*task]
}

// New makes a fake. It has the operations control.Submit, for both ways to speak,
// and control.Status.
func New(cfg Config) http.Handler {
	f := &fake{Config: cfg, tasks: control.NewJobs[*task](cfg.Now, cfg.Took)}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/speech", signed(cfg.Control.Handle(Name, control.Submit, f.speak)))
	mux.HandleFunc("POST /v1/synthesisTasks", signed(cfg.Control.Handle(Name, control.Submit, f.start)))
	mux.HandleFunc("GET /v1/synthesisTasks/{TaskId}", signed(cfg.Control.Handle(Name, control.Status, f.find)))
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		refuse(w, http.StatusNotFound,
			"UnknownOperation", "")
	})
	return mux
}

// speech is the input of both ways to speak.
type speech struct {
	Engine          *string  `json:"Engine"`
	LanguageCode    *string  `json:"LanguageCode"`
	LexiconNames    []string `json:"LexiconNames"`
	OutputFormat    *string  `json:"OutputFormat"`
	SampleRate      *string  `json:"SampleRate"`
	SpeechMarkTypes []string `json:"SpeechMarkTypes"`
	Text            *string  `json:"Text"`
	TextType        *string  `json:"TextType"`
	VoiceID         *string  `json:"VoiceId"`
}

// The greatest numbers of characters of the two ways to speak.
const (
	maxSpeech = 3_000
	maxTask   = 100_000
)

// refusal is an error of the service.
type refusal struct{ code, message string }

// check returns a refusal if the protocol does not allow the input.
func (s speech) check(most int) *refusal {
	invalid := func(format string, args ...any) *refusal {
		return &refusal{"ValidationException", fmt.Sprintf(format, args...)}
	}
	if s.Text == nil || s.OutputFormat == nil || s.VoiceID == nil {
		return invalid("Text, OutputFormat and VoiceId are required")
	}
	engine := or(s.Engine, "standard")
	voice, known := speakers[*s.VoiceID]
	switch {
	case engines[engine] == "":
		return invalid("Value %q at 'engine' failed to satisfy constraint", engine)
	case !known:
		return invalid("Value %q at 'voiceId' failed to satisfy constraint", *s.VoiceID)
	case *s.OutputFormat == "json" && engine == "generative":
		return &refusal{"EngineNotSupportedException",
			"Speech marks are not supported by the selected engine: " + engine}
	case *s.OutputFormat == "json" && len(s.SpeechMarkTypes) == 0:
		return invalid("SpeechMarkTypes are required for the OutputFormat json")
	case *s.OutputFormat != "mp3" && *s.OutputFormat != "json":
		return invalid("the fake speaks mp3, not %q", *s.OutputFormat)
	case or(s.TextType, "text") != "text":
		return invalid("the fake reads text, not %q", *s.TextType)
	case s.SampleRate != nil && !slices.Contains([]string{"8000", "16000", "22050", "24000"}, *s.SampleRate):
		return &refusal{"InvalidSampleRateException", "The specified sample rate is not valid."}
	case len(s.SpeechMarkTypes) > 0 && *s.OutputFormat != "json":
		return &refusal{"MarksNotSupportedForFormatException", "Speech marks are not supported for the OutputFormat " +
			"selected."}
	case len(s.LexiconNames) > 0:
		return &refusal{"LexiconNotFoundException", "There is no such lexicon."}
	case *s.Text == "":
		return invalid("Text is empty")
	case len(utf16.Encode([]rune(*s.Text))) > most:
		return &refusal{"TextLengthExceededException", "Maximum text length has been exceeded"}
	case !voice.has(engine):
		return &refusal{"EngineNotSupportedException", "This voice does not support the selected engine: " + engine}
	case s.LanguageCode != nil && !voice.speaks(*s.LanguageCode):
		return &refusal{"LanguageNotSupportedException", "The voice does not speak " + *s.LanguageCode}
	}
	return nil
}

// speak serves SynthesizeSpeech.
func (f *fake) speak(w http.ResponseWriter, r *http.Request) {
	var s speech
	sent, err := strict.JSON(r, &s)
	if err != nil {
		refuse(w, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	if e := s.check(maxSpeech); e != nil {
		refuse(w, http.StatusBadRequest, e.code, e.message)
		return
	}
	if control.JobFails(r.Context()) {
		refuse(w, http.StatusInternalServerError, "ServiceFailureException",
			"An unknown condition has caused a service failure.")
		return
	}
	_, content, err := sample.Lasting(sample.Voice, "", 0, sample.Spoken(*s.Text))
	if err != nil {
		refuse(w, http.StatusInternalServerError, "ServiceFailureException", err.Error())
		return
	}
	f.accept("", s, sent)
	w.Header().Set("Content-Type", "audio/mpeg")
	if *s.OutputFormat == "json" {
		w.Header().Set("Content-Type", "application/x-json-stream")
		content = wordsOf(*s.Text)
	}
	w.Header().Set("X-Amzn-Requestcharacters", strconv.Itoa(len(utf16.Encode([]rune(*s.Text)))))
	_, _ = w.Write(content) // the caller may have gone
}

// wordsOf returns a line for each word of a text, with the time at which it is spoken.
func wordsOf(text string) []byte {
	var b bytes.Buffer
	each := sample.Spoken(text) / time.Duration(max(utf8.RuneCountInString(text), 1))
	for _, at := range wordStart.FindAllStringIndex(text, -1) {
		fmt.Fprintf(&b, `{"time":%d,"type":"word","start":%d,"end":%d,"value":%q}`+"\n",
			(each * time.Duration(utf8.RuneCountInString(text[:at[0]]))).Milliseconds(), at[0], at[1],
			text[at[0]:at[1]])
	}
	return b.Bytes()
}

var wordStart = regexp.MustCompile(`\S+`)

func (f *fake) accept(id string, s speech, sent map[string]any) {
	f.Control.Accept(control.Acceptance{
		Provider: Name, Operation: control.Submit, ID: id, Model: or(s.Engine, "standard"),
		Prompt: *s.Text, Input: sent,
	})
}

// task is a StartSpeechSynthesisTask with its result.
type task struct {
	speech
	Bucket   *string `json:"OutputS3BucketName"`
	Prefix   *string `json:"OutputS3KeyPrefix"`
	TopicARN *string `json:"SnsTopicArn"`

	region string
	key    string

	written sync.Once
	broken  error // the error of writing the file
}

var (
	bucketName = regexp.MustCompile(`^[a-z0-9][.\-a-z0-9]{1,61}[a-z0-9]$`)
	keyPrefix  = regexp.MustCompile(`^[0-9a-zA-Z/!\-_.*'()]{0,800}$`)
)

// start serves StartSpeechSynthesisTask.
func (f *fake) start(w http.ResponseWriter, r *http.Request) {
	t := &task{region: scope.FindStringSubmatch(r.Header.Get("Authorization"))[1]}
	sent, err := strict.JSON(r, t)
	if err != nil {
		refuse(w, http.StatusBadRequest, "SerializationException", err.Error())
		return
	}
	e := t.check(maxTask)
	switch {
	case e != nil:
	case t.Bucket == nil || !bucketName.MatchString(*t.Bucket):
		e = &refusal{"InvalidS3BucketException", "The provided Amazon S3 bucket name is invalid."}
	case !keyPrefix.MatchString(or(t.Prefix, "")):
		e = &refusal{"InvalidS3KeyException", "The provided Amazon S3 key prefix is invalid."}
	case t.TopicARN != nil:
		e = &refusal{"InvalidSnsTopicArnException", "The provided SNS topic ARN is invalid."}
	}
	if e != nil {
		refuse(w, http.StatusBadRequest, e.code, e.message)
		return
	}
	id := strings.ToLower(rand.Text())
	t.key = id + ".mp3"
	if prefix := or(t.Prefix, ""); prefix != "" {
		t.key = prefix + "." + t.key
	}
	f.tasks.Start(id, t, control.JobFails(r.Context()))
	f.accept(id, t.speech, sent)
	f.show(w, r, id)
}

// find serves GetSpeechSynthesisTask.
func (f *fake) find(w http.ResponseWriter, r *http.Request) {
	if _, _, _, found := f.tasks.Find(r.PathValue("TaskId")); !found {
		refuse(w, http.StatusBadRequest, "SynthesisTaskNotFoundException", "The Speech Synthesis task with requested "+
			"Task ID cannot be found.")
		return
	}
	f.show(w, r, r.PathValue("TaskId"))
}

// show answers with a task. If the task is done, it first writes the file.
func (f *fake) show(w http.ResponseWriter, r *http.Request, id string) {
	job, phase, _, _ := f.tasks.Find(id)
	t := job.Work
	status, reason := map[control.Phase]string{
		control.Waiting: "scheduled", control.Working: "inProgress", control.Succeeded: "completed",
		control.Failed: "failed",
	}[phase], ""
	if phase == control.Failed {
		reason = "Error occurred while synthesizing the speech."
	}
	if phase == control.Succeeded {
		t.written.Do(func() {
			var content []byte
			if content, t.broken = fs.ReadFile(f.Media, file); t.broken == nil {
				t.broken = f.Write(context.WithoutCancel(r.Context()), *t.Bucket, t.key, content)
			}
		})
		if t.broken != nil {
			status, reason = "failed", "Error occurred while writing to S3: "+t.broken.Error()
		}
	}
	shown := map[string]any{
		"TaskId": id, "TaskStatus": status, "CreationTime": float64(job.Began.UnixMilli()) / 1000,
		"Engine": or(t.Engine, "standard"), "OutputFormat": *t.OutputFormat, "VoiceId": *t.VoiceID, "TextType": "text",
		"RequestCharacters": len(utf16.Encode([]rune(*t.Text))),
		"OutputUri":         fmt.Sprintf("https://s3.%s.amazonaws.com/%s/%s", t.region, *t.Bucket, t.key),
	}
	if reason != "" {
		shown["TaskStatusReason"] = reason
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"SynthesisTask": shown}) // the caller may have gone
}

// scope matches a signature of version 4 for this service.
var scope = regexp.MustCompile(
	`^AWS4-HMAC-SHA256 Credential=[^/]+/[0-9]{8}/([a-z0-9-]+)/polly/aws4_request, SignedHeaders=[a-z0-9;-]*host[a-z0-9;-]*, Signature=[0-9a-f]{64}$`)

// signed refuses requests without a signature. It checks only the form, because the fake has no
// secret to verify it.
func signed(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("Authorization") == "":
			refuse(w, http.StatusForbidden, "MissingAuthenticationTokenException", "Missing Authentication Token")
		case !scope.MatchString(r.Header.Get("Authorization")) || r.Header.Get("X-Amz-Date") == "":
			refuse(w, http.StatusForbidden, "IncompleteSignatureException", "The signature is not one for polly")
		default:
			h(w, r)
		}
	}
}

// refuse writes an error in the service's form.
func refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", code)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"message": message}) // the caller may have gone
}

func or(s *string, other string) string {
	if s == nil {
		return other
	}
	return *s
}
