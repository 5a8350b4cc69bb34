package polly

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/polly/types"

	"github.com/content-automation/api/infra/verify/harness/apitest"
	"github.com/content-automation/api/infra/verify/harness/providertest"
	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/generate/catalog"
	"github.com/content-automation/api/testdata/providers/control"
	fake "github.com/content-automation/api/testdata/providers/polly"
	"github.com/content-automation/api/testdata/providers/sample"
)

const (
	bucket = "media-bucket"
	secret = "very+secret/key"
)

// store is a bucket.
type store struct {
	mu      sync.Mutex
	objects map[string][]byte
	err     error // of everything
}

func (s *store) write(_ context.Context, in, key string, content []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if in != bucket {
		return fmt.Errorf("there is no bucket %s", in)
	}
	s.objects[key] = content
	return s.err
}

func (s *store) Open(_ context.Context, key string) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	content, ok := s.objects[key]
	switch {
	case s.err != nil:
		return nil, s.err
	case !ok:
		return nil, errs.New(errs.NotFound, "There is no %s.", key)
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// world is the provider before its fake.
type world struct {
	*Provider
	*apitest.Clock
	*store
	control *control.Control
}

func newWorld(t *testing.T) world {
	t.Helper()
	w := world{
		control: control.New(), store: &store{objects: map[string][]byte{}},
		Clock: apitest.NewClock(),
	}
	server := httptest.NewServer(fake.New(fake.Config{Control: w.control, Media: sample.Files, Write: w.write,
		Now: w.Now, Took: time.Minute}))
	t.Cleanup(server.Close)
	w.Provider = at(server.URL, w.store)
	return w
}

func at(endpoint string, o provider.Objects) *Provider {
	return New(Config{Endpoint: endpoint, Bucket: bucket, Objects: o, AWS: aws.Config{
		Region: "eu-central-1",
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials{AccessKeyID: "AKIAEXAMPLE", SecretAccessKey: secret}, nil
		}),
		BaseEndpoint: aws.String("http://127.0.0.1:1"), // of other services
	}})
}

func short(token string) provider.Request {
	return provider.Request{Kind: provider.KindVoice, Model: "neural", ClientToken: token, Language: "en-GB",
		Prompt: "Good morning."}
}

func long(token string) provider.Request {
	r := short(token)
	r.Prompt = strings.Repeat("Good morning. ", 300)
	return r
}

func TestConformance(t *testing.T) {
	w := newWorld(t)
	queue := func(operation string, f control.Fault) func(*testing.T) {
		return func(*testing.T) {
			w.control.Reset() // net/http repeats a question on a new connection, or does not
			w.control.Queue(fake.Name, operation, f)
		}
	}
	submit := func(r provider.Request) func(context.Context, provider.Provider) error {
		return func(ctx context.Context, p provider.Provider) error { _, err := p.Submit(ctx, r); return err }
	}
	// The calls that come after a submission.
	then := func(call func(context.Context, provider.Handle) error) func(context.Context, provider.Provider) error {
		return func(ctx context.Context, p provider.Provider) error {
			s, err := p.Submit(ctx, long("fault"))
			if err != nil {
				return err
			}
			w.Add(time.Minute)
			return call(ctx, s.Handle)
		}
	}
	poll := then(func(ctx context.Context, h provider.Handle) error { _, err := w.Poll(ctx, h); return err })
	fetch := then(func(ctx context.Context, h provider.Handle) error { _, err := w.Fetch(ctx, h); return err })
	impatientSubmit := func(ctx context.Context, p provider.Provider) error {
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		return submit(short("fault"))(ctx, p)
	}
	impatientPoll := then(func(ctx context.Context, h provider.Handle) error {
		ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
		defer cancel()
		_, err := w.Poll(ctx, h)
		return err
	})
	failed := then(func(ctx context.Context, h provider.Handle) error {
		s, err := w.Poll(ctx, h)
		if err != nil || s.State != provider.Failed {
			return fmt.Errorf("polled %+v, %v", s, err)
		}
		_, err = w.Fetch(ctx, h)
		return err
	})
	// Opening a result after something has happened to the bucket.
	open := func(happens func()) func(context.Context, provider.Provider) error {
		return then(func(ctx context.Context, h provider.Handle) error {
			r, err := w.Fetch(ctx, h)
			if err != nil {
				return fmt.Errorf("fetch: %v", err)
			}
			happens()
			_, err = r.Media[0].Open(ctx)
			w.store.err = nil
			return err
		})
	}

	nothing := func(*testing.T) {}
	limited := control.Fault{Kind: control.RateLimited, Seconds: 7}
	slow := control.Fault{Kind: control.Slow, Seconds: 60}
	providertest.Run(t, providertest.Suite{
		Provider: w.Provider,
		Requests: []provider.Request{short("short"), long("long")},
		Advance:  w.Add,
		Faults: []providertest.Fault{
			{Name: "too many requests", Arrange: queue(control.Submit, limited), Call: submit(short("fault")),
				Want: provider.Transient},
			{Name: "too many tasks", Arrange: queue(control.Submit, limited), Call: submit(long("fault")),
				Want: provider.Transient},
			{Name: "too many questions", Arrange: queue(control.Status, limited), Call: poll, Want: provider.Transient},
			{Name: "unavailability", Arrange: queue(control.Submit, control.Fault{Kind: control.ServerError}),
				Call: submit(short("fault")), Want: provider.Transient},
			{Name: "an error when asked", Arrange: queue(control.Status,
				control.Fault{Kind: control.ServerError, Status: 500}), Call: fetch, Want: provider.Transient},
			{Name: "a time-out", Arrange: queue(control.Submit, slow), Call: impatientSubmit,
				Want: provider.UnknownOutcome},
			{Name: "a time-out when asked", Arrange: queue(control.Status, slow), Call: impatientPoll,
				Want: provider.Transient},
			{Name: "garbage for speech", Arrange: queue(control.Submit, control.Fault{Kind: control.Garbage}),
				Call: submit(short("fault")), Want: provider.UnknownOutcome},
			{Name: "garbage for a task", Arrange: queue(control.Submit, control.Fault{Kind: control.Garbage}),
				Call: submit(long("fault")), Want: provider.UnknownOutcome},
			{Name: "garbage when asked", Arrange: queue(control.Status, control.Fault{Kind: control.Garbage}),
				Call: poll, Want: provider.Transient},
			{Name: "a cut connection", Arrange: queue(control.Submit, control.Fault{Kind: control.Drop}),
				Call: submit(short("fault")), Want: provider.UnknownOutcome},
			{Name: "a cut connection when asked",
				Arrange: queue(control.Status, control.Fault{Kind: control.Drop, Times: 2}), Call: poll,
				Want: provider.Transient},
			{Name: "lost speech", Arrange: queue(control.Submit, control.Fault{Kind: control.DropAfterAccept}),
				Call: submit(short("fault")), Want: provider.UnknownOutcome},
			{Name: "a lost task", Arrange: queue(control.Submit, control.Fault{Kind: control.DropAfterAccept}),
				Call: submit(long("fault")), Want: provider.UnknownOutcome},
			{Name: "speech that fails", Arrange: queue(control.Submit, control.Fault{Kind: control.JobFailed}),
				Call: submit(short("fault")), Want: provider.Transient},
			{Name: "a task that fails", Arrange: queue(control.Submit, control.Fault{Kind: control.JobFailed}),
				Call: failed, Want: provider.Rejected},
			{Name: "a bucket that cannot be written", Arrange: func(*testing.T) { w.store.err = errors.New("denied") },
				Call: func(ctx context.Context, p provider.Provider) error {
					err := failed(ctx, p)
					w.store.err = nil
					return err
				}, Want: provider.Rejected},
			{Name: "a file that is gone", Arrange: nothing, Call: open(func() { clear(w.store.objects) }),
				Want: provider.Rejected},
			{Name: "a bucket that cannot be read", Arrange: nothing,
				Call: open(func() { w.store.err = errs.New(errs.ProviderUnavailable, "x") }), Want: provider.Transient},
			{Name: "a task that nobody knows", Arrange: nothing, Want: provider.BadInput,
				Call: func(ctx context.Context, p provider.Provider) error {
					_,
						err := p.Poll(ctx, "task:0")
					return err
				}},
			{Name: "a task that is not done", Arrange: nothing, Want: provider.Transient,
				Call: func(ctx context.Context, p provider.Provider) error {
					s, err := p.Submit(ctx, long("early"))
					if err != nil {
						return err
					}
					_, err = p.Fetch(ctx, s.Handle)
					return err
				}},
		},
	})
}

func TestNothingIsRepeated(t *testing.T) {
	for _, f := range []control.Fault{{Kind: control.ServerError}, {Kind: control.RateLimited},
		{Kind: control.DropAfterAccept}} {
		w := newWorld(t)
		w.control.Queue(fake.Name, control.Submit, f)
		if _, err := w.Submit(t.Context(), short("a")); err == nil {
			t.Errorf("%s: the call was repeated", f.Kind)
		}
		if n := len(w.control.Accepted()); n > 1 {
			t.Errorf("%s: accepted %d times", f.Kind, n)
		}
	}
}

func TestFilesOfTasksLieUnderThePrefix(t *testing.T) {
	w := newWorld(t)
	s, err := w.Submit(t.Context(), long("a"))
	if err != nil {
		t.Fatal(err)
	}
	w.Add(time.Minute)
	if _, err := w.Fetch(t.Context(), s.Handle); err != nil {
		t.Fatal(err)
	}
	if len(w.store.objects) != 1 {
		t.Errorf("%d objects", len(w.store.objects))
	}
	for key := range w.store.objects {
		if !strings.HasPrefix(key, RawPrefix) || !strings.HasSuffix(key, ".mp3") {
			t.Errorf("the key is %s", key)
		}
	}
}

// Each model of the catalog must be of use as the catalog describes it.
func TestEveryModelOfTheCatalogIsTaken(t *testing.T) {
	w := newWorld(t)
	models := catalog.Models(catalog.Filter{Provider: Name})
	if len(models) != 4 {
		t.Errorf("the catalog has %d models, and the provider four engines", len(models))
	}
	for _, m := range models {
		if m.Kind != provider.KindVoice || m.Capabilities.MaxCharacters != maxText {
			t.Errorf("%s: kind %s, %d characters", m.ID, m.Kind, m.Capabilities.MaxCharacters)
		}
		var spoken []string
		for tag := range voices[m.ProviderModel] {
			if !strings.Contains(tag, "-") {
				spoken = append(spoken, tag)
			}
		}
		slices.Sort(spoken)
		if !slices.Equal(spoken, m.Capabilities.Languages) {
			t.Errorf("%s: the catalog has the languages %v, there are voices for %v", m.ID,
				m.Capabilities.Languages, spoken)
		}
		for tag := range voices[m.ProviderModel] {
			for _, length := range []int{1, maxAtOnce, maxAtOnce + 1, maxText} {
				req := provider.Request{
					Kind: m.Kind, Model: m.ProviderModel, Options: m.ProviderOptions, Language: tag,
					Prompt: strings.Repeat("x", length),
				}
				s, err := w.Submit(t.Context(), req)
				if err != nil || (s.Handle != "") != (length > maxAtOnce) {
					t.Errorf("%s in %q, %d characters: %+v, %v", m.ID, tag, length, s, err)
				}
			}
		}
	}
}

func TestVoicesAreKnownToTheService(t *testing.T) {
	for engine, all := range voices {
		for tag, v := range all {
			if !slices.Contains(types.VoiceId("").Values(), types.VoiceId(v.id)) ||
				!slices.Contains(types.LanguageCode("").Values(), types.LanguageCode(v.code)) ||
				!slices.Contains(types.Engine("").Values(), types.Engine(engine)) {
				t.Errorf("%s, %s: %+v", engine, tag, v)
			}
		}
	}
}

func TestVoiceByLanguage(t *testing.T) {
	for _, c := range []struct {
		model, language, named string
		want                   voice
		ok                     bool
	}{
		{"neural", "", "", voice{"Joanna", "en-US"}, true},
		{"neural", "en-GB", "", voice{"Amy", "en-GB"}, true},
		{"neural", "en-SG", "", voice{"Joanna", "en-US"}, true},
		{"neural", "nb-NO", "", voice{"Ida", "nb-NO"}, true},
		{"neural", "nn", "", voice{"Ida", "nb-NO"}, true},
		{"neural", "cmn", "", voice{"Zhiyu", "cmn-CN"}, true},
		{"neural", "zh-Hant-TW", "", voice{"Zhiyu", "cmn-CN"}, true},
		{"neural", "yue", "", voice{"Hiujin", "yue-CN"}, true},
		{"standard", "arb", "", voice{"Zeina", "arb"}, true},
		{"neural", "ru", "", voice{}, false},
		{"standard", "ru", "", voice{"Tatyana", "ru-RU"}, true},
		{"long-form", "de", "", voice{}, false},
		{"neural", "!", "", voice{}, false},
		{"neural", "hi", "Kajal", voice{"Kajal", "hi-IN"}, true},
		{"neural", "en-IN", "Kajal", voice{"Kajal", "en-IN"}, true},
		{"neural", "en-GB", "Brian", voice{"Brian", ""}, true},
		{"neural", "!", "Brian", voice{"Brian", ""}, true},
		{"neural", "en", "../x", voice{}, false},
		{"opera", "en", "", voice{}, false},
	} {
		got, err := choose(c.model, provider.Request{Language: c.language, Voice: c.named})
		if got != c.want || (err == nil) != c.ok || err != nil && provider.KindOf(err) != provider.BadInput {
			t.Errorf("%s in %q by %q: %+v, %v; want %+v", c.model, c.language, c.named, got, err, c.want)
		}
	}
}

func TestRefusals(t *testing.T) {
	w := newWorld(t)
	for name, c := range map[string]struct {
		change func(*provider.Request)
		code   string
	}{
		"a voice of another engine":   {func(r *provider.Request) { r.Voice = "Marlene" }, "unknown_voice"},
		"a voice that nobody has":     {func(r *provider.Request) { r.Voice = "Caruso" }, ""},
		"a language that it does not": {func(r *provider.Request) { r.Language = "sw" }, "unsupported_language"},
		"too long a text": {func(r *provider.Request) { r.Prompt = strings.Repeat("x", maxText+1) },
			"text_too_long"},
		"too many pictures": {func(r *provider.Request) { r.Prompt = strings.Repeat("🎉", maxText/2+1) },
			"text_too_long"},
	} {
		req := short("a")
		c.change(&req)
		_, err := w.Submit(t.Context(), req)
		var e *provider.Error
		if !errors.As(err, &e) || e.Kind != provider.BadInput || c.code != "" && e.Code != c.code {
			t.Errorf("%s: got %v, want bad input, %s", name, err, c.code)
		}
	}
}

// The codes that only this service has; pkg/adapter/provider/wire has the others.
func TestCodes(t *testing.T) {
	for code, want := range map[string]provider.ErrorKind{
		"TextLengthExceededException":    provider.BadInput,
		"LanguageNotSupportedException":  provider.BadInput,
		"EngineNotSupportedException":    provider.BadInput,
		"InvalidSsmlException":           provider.BadInput,
		"InvalidS3BucketException":       provider.Quota,
		"InvalidS3KeyException":          provider.Quota,
		"InvalidTaskIdException":         provider.BadInput,
		"SynthesisTaskNotFoundException": provider.BadInput,
		"AccessDeniedException":          provider.Quota,
	} {
		p := answering(t, 400, code, `{"message":"m"}`)
		for name, err := range map[string]error{"submit": submitted(p, short("a")), "start": submitted(p, long("a")),
			"poll": polled(p)} {
			if err == nil || provider.KindOf(err) != want {
				t.Errorf("%s: %s: %v, want %s", name, code, err, want)
			}
		}
	}
}

// Answers that are JSON and say nothing, or something else than they should.
func TestAnswersThatLackSomething(t *testing.T) {
	task := func(uri string) string {
		return `{"SynthesisTask":{"TaskId":"a","TaskStatus":"completed","OutputUri":"` + uri + `"}}`
	}
	for name, body := range map[string]string{
		"no task":          `{}`,
		"no status":        `{"SynthesisTask":{"OutputUri":"x"}}`,
		"no such status":   `{"SynthesisTask":{"TaskStatus":"resting"}}`,
		"no address":       task(""),
		"another bucket":   task("https://s3.eu-central-1.amazonaws.com/others/raw/polly/a.mp3"),
		"another prefix":   task("https://s3.eu-central-1.amazonaws.com/media-bucket/media/a.mp3"),
		"a way around":     task("https://s3.eu-central-1.amazonaws.com/media-bucket/raw/polly/../../media/a.mp3"),
		"no address again": task("%zz"),
	} {
		p := answering(t, 200, "", body)
		if err := polled(p); err == nil || provider.KindOf(err) != provider.Transient {
			t.Errorf("%s: polled: %v", name, err)
		}
	}
	for _, body := range []string{`{}`, `{"SynthesisTask":{"TaskId":"../x"}}`} {
		if err := submitted(answering(t, 200, "", body), long("a")); provider.KindOf(err) != provider.UnknownOutcome {
			t.Errorf("%s: %v", body, err)
		}
	}
}

func submitted(p *Provider, r provider.Request) error {
	_, err := p.Submit(context.Background(), r)
	return err
}

func polled(p *Provider) error {
	_, err := p.Poll(context.Background(), "task:a")
	return err
}

// answering is the provider before a server that always answers the same.
func answering(t *testing.T, status int, code, body string) *Provider {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Amzn-Errortype", code)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}))
	t.Cleanup(server.Close)
	return at(server.URL, &store{})
}

func TestNothingShowsTheKey(t *testing.T) {
	w := newWorld(t)
	w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: control.ServerError},
		control.Fault{Kind: control.DropAfterAccept})
	for _, err := range []error{submitted(w.Provider, short("a")), submitted(w.Provider, long("a")),
		polled(w.Provider)} {
		var log bytes.Buffer
		slog.New(slog.NewJSONHandler(&log, nil)).Error("call", "error", err, "provider", w.Provider)
		shown := fmt.Sprintf("%v %+v %#v %v %+v %s", err, err, err, w.Provider, w.Provider, log.String())
		if err == nil || strings.Contains(shown, secret) {
			t.Errorf("shown: %s", shown)
		}
	}
}

func TestTheFakeWasSentWhatWasMeant(t *testing.T) {
	w := newWorld(t)
	if err := submitted(w.Provider, short("a")); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"Engine": "neural", "LanguageCode": "en-GB", "OutputFormat": "mp3", "Text": "Good morning.", "TextType": "text",
		"VoiceId": "Amy",
	}
	if got := w.control.Accepted()[0].Input; !reflect.DeepEqual(got, want) {
		t.Errorf("sent %v, want %v", got, want)
	}
}

// The catalog lists each voice that speaks where a request names none.
func TestTheCatalogListsTheDefaultVoices(t *testing.T) {
	for engine, byLanguage := range voices {
		for tag, v := range byLanguage {
			listed := catalog.Voices("polly-"+string(engine), tag)
			if !slices.ContainsFunc(listed, func(c catalog.Voice) bool {
				return c.ID == string(v.id) && slices.Contains(c.Default, "polly-"+string(engine))
			}) {
				t.Errorf("%s speaks %s for %s, and is not listed", v.id, tag, engine)
			}
		}
	}
}

func TestMarksSayWhenWordsAreSpoken(t *testing.T) {
	w := newWorld(t)
	req := short("marks")
	req.Marks, req.Prompt = true, "Où est né l’été ?"
	sub, err := w.Submit(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for i, m := range sub.Result.Marks {
		word, _, _ := strings.Cut(req.Prompt[m.Offset:], " ")
		said = append(said, word)
		if i > 0 && m.At <= sub.Result.Marks[i-1].At {
			t.Errorf("%+v", sub.Result.Marks)
		}
	}
	if strings.Join(said, " ") != req.Prompt || sub.Result.Characters != 2*characters(req.Prompt) ||
		len(sub.Result.Media) != 1 {
		t.Errorf("%q, %+v", said, sub.Result)
	}
	// The price covers the billed characters.
	m, _ := catalog.Find("polly-neural")
	req.Prompt = strings.Repeat("x", 2500)
	with, err1 := m.PriceOf(req)
	req.Marks = false
	without, err2 := m.PriceOf(req)
	if err1 != nil || err2 != nil || with != 2*without {
		t.Errorf("%d with marks, %d without", with, without)
	}
	// Speech without marks is of use.
	req.Marks, req.Prompt = true, "Good morning."
	w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: control.Slow})
	w.control.Queue(fake.Name, control.Submit, control.Fault{Kind: control.ServerError, Status: 500})
	if sub, err := w.Submit(t.Context(), req); err != nil || sub.Result.Marks != nil || len(sub.Result.Media) != 1 {
		t.Errorf("%+v, %v", sub, err)
	}
	req.Model = "generative"
	if sub, err := w.Submit(t.Context(), req); err != nil || sub.Result.Marks != nil {
		t.Errorf("generative: %+v, %v", sub, err)
	}
}
