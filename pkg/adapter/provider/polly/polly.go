// Package polly speaks with Amazon Polly:
//
//   - SynthesizeSpeech (developer guide, "SynthesizeSpeech") speaks up to 3,000
//     characters and answers with the file.
//   - SynthesizeSpeech with the output format json ("Speech marks") says when the words
//     of a text are spoken. Its characters are billed like those of speech. Generative
//     voices have no marks.
//   - StartSpeechSynthesisTask ("Creating long audio files") speaks up to 100,000
//     and puts the file into a bucket; GetSpeechSynthesisTask returns scheduled,
//     inProgress, completed or failed. The provider keeps a task for 72 hours.
//
// The id of a model is that of an engine: standard, neural, long-form or generative. Voices speak one language, or two,
// and exist for certain engines: a request that names none gets one by its language, from a table here.
//
// Neither call takes a client token. If the answer to one of them is lost, the outcome is unknown: the text may be
// spoken and billed. The file of such a task stays in the bucket under RawPrefix, unused, until the bucket's rule for
// raw results removes it. Nothing can be canceled. Start with Provider.
package polly

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/text/language"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/awsapi"
)

// Name is the provider's name.
const Name = "polly"

// RawPrefix is the prefix of the keys of files that tasks put into the bucket.
const RawPrefix = "raw/polly/"

const (
	// A longer text needs a task.
	maxAtOnce = 3_000
	maxText   = 100_000

	speakTimeout = 60 * time.Second
	quickTimeout = 10 * time.Second
	maxAnswer    = 16 << 20 // 3,000 characters are some four minutes, or 2 MB

	handlePrefix = "task:"
)

// Config has the dependencies of the adapter.
type Config struct {
	// AWS has region and credentials. Its endpoint, retries and HTTP client are not used: see wire.AWSConfig.
	AWS aws.Config
	// Endpoint replaces the service's own address.
	Endpoint string
	// Bucket is the bucket for the files of tasks, and Objects reads from it.
	Bucket  string
	Objects provider.Objects
}

// Provider is Amazon Polly.
type Provider struct {
	provider.Jobs
	client  *awsapi.Client
	bucket  string
	objects provider.Objects
}

var _ provider.Provider = (*Provider)(nil)

// New makes the provider. It makes no call.
func New(cfg Config) *Provider {
	p := &Provider{client: awsapi.New(wire.AWSConfig(cfg.AWS, cfg.Endpoint), "polly", "polly"), bucket: cfg.Bucket,
		objects: cfg.Objects}
	p.Jobs = p.look
	return p
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{Unstoppable: true,
		Kinds: map[provider.Kind]provider.Capability{provider.KindVoice: {}}}
}

// Submit implements provider.Provider. It returns the result at once if the text is short enough.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := req.Validate(p.Capabilities()); err != nil {
		return provider.Submission{}, err
	}
	engine := req.Model
	v, err := choose(engine, req)
	if err != nil {
		return provider.Submission{}, err
	}
	switch n := characters(req.Prompt); {
	case n > maxText:
		return provider.Submission{}, invalid("text_too_long", fmt.Sprintf("The text has more than the %d characters "+
			"that the model speaks.", maxText))
	case n > maxAtOnce:
		return p.start(ctx, engine, v, req.Prompt, req.Account)
	default:
		return p.speak(ctx, engine, v, req.Prompt, req.Marks && engine != generative)
	}
}

// voiceID is the form of the ids of voices.
var voiceID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z]{2,32}$`)
})

func choose(engine string, req provider.Request) (voice, error) {
	if voices[engine] == nil {
		return voice{}, invalid("invalid_input", "The provider has no such engine.")
	}
	if req.Voice != "" {
		if !voiceID().MatchString(req.Voice) {
			return voice{}, invalid("unknown_voice", "The provider has no such voice.")
		}
		return named(engine, req.Voice, req.Language), nil
	}
	v, found, err := find(engine, req.Language)
	switch {
	case err != nil:
		return voice{}, err
	case !found:
		return voice{}, invalid("unsupported_language", "The model does not speak the language.")
	}
	return v, nil
}

// characters returns the largest number of characters that the provider may count, which is the length in UTF-16.
func characters(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

func (p *Provider) speak(ctx context.Context, engine string, v voice, text string,
	marks bool) (provider.Submission, error) {
	call := wire.AWSCall{Name: "polly: SynthesizeSpeech", Timeout: speakTimeout, Submits: true, Classify: refused}
	var content []byte
	var billed int
	err := call.Do(ctx, func(ctx context.Context) (err error) {
		content, billed, err = p.synthesize(ctx, newSpeech(engine, v, text))
		switch {
		case err != nil:
			return err
		case len(content) > maxAnswer:
			return call.Garbled(fmt.Errorf("the answer is larger than %d bytes", maxAnswer))
		case !isMP3(content):
			return call.Garbled(errors.New("it is no MP3"))
		}
		return nil
	})
	if err != nil {
		return provider.Submission{}, err
	}
	result := &provider.Result{Media: []provider.File{provider.FileOf(content)}, Characters: billed}
	if marks {
		var more int
		result.Marks, more = p.marks(ctx, engine, v, text)
		result.Characters += more
	}
	return provider.Submission{Result: result}, nil
}

// isMP3 reports whether the content begins like an MP3: with an ID3 tag or a frame.
func isMP3(content []byte) bool {
	return len(content) > 3 && (string(content[:3]) == "ID3" || content[0] == 0xff && content[1]&0xe0 == 0xe0)
}

// start starts a task for a long text.
func (p *Provider) start(ctx context.Context, engine string, v voice, text, account string) (
	provider.Submission, error) {
	call := wire.AWSCall{Name: "polly: StartSpeechSynthesisTask", Timeout: quickTimeout, Submits: true,
		Classify: refused}
	var id string
	err := call.Do(ctx, func(ctx context.Context) error {
		s := newSpeech(engine, v, text)
		s.Bucket, s.Prefix = p.bucket, RawPrefix+account+"/speech"
		var out started
		if err := p.client.Do(ctx, http.MethodPost, "/v1/synthesisTasks", s, &out); err != nil {
			return err
		}
		if id = out.Task.ID; !taskID().MatchString(id) {
			return call.Garbled(errors.New("it names no task"))
		}
		return nil
	})
	if err != nil {
		return provider.Submission{}, err
	}
	return provider.Submission{Handle: provider.Handle(handlePrefix + id)}, nil
}

// look reads a task. The provider reports no progress.
func (p *Provider) look(ctx context.Context, h provider.Handle) (j provider.Job, err error) {
	id, err := parse(h)
	if err != nil {
		return j, err
	}
	call := wire.AWSCall{Name: "polly: GetSpeechSynthesisTask", Timeout: quickTimeout, Classify: refused}
	var task synthesis
	err = call.Do(ctx, func(ctx context.Context) error {
		var out started
		if err := p.client.Do(ctx, http.MethodGet, "/v1/synthesisTasks/"+id, nil, &out); err != nil {
			return err
		}
		if task = out.Task; states[task.Status] == "" {
			return call.Garbled(errors.New("it has no status"))
		}
		if states[task.Status] == provider.Succeeded && p.key(task) == "" {
			return call.Garbled(errors.New("the file is none of ours"))
		}
		return nil
	})
	if err != nil {
		return j, err
	}
	if j.State = states[task.Status]; j.State == provider.Failed {
		j.Failure = failure(task)
	}
	j.Result = func() (provider.Result, error) {
		return provider.Result{Media: []provider.File{provider.StoredFile(p.objects, p.key(task))}}, nil
	}
	return j, nil
}

// states are the provider's names of the states.
var states = map[string]provider.State{
	"scheduled": provider.Queued, "inProgress": provider.Running, "completed": provider.Succeeded,
	"failed": provider.Failed,
}

// speech is the request for speech, and with a bucket for a task.
type speech struct {
	Engine, OutputFormat, Text, TextType string
	Voice                                string   `json:"VoiceId"`
	Language                             string   `json:"LanguageCode,omitempty"`
	Marks                                []string `json:"SpeechMarkTypes,omitempty"`
	Bucket                               string   `json:"OutputS3BucketName,omitempty"`
	Prefix                               string   `json:"OutputS3KeyPrefix,omitempty"`
}

func newSpeech(engine string, v voice, text string) speech {
	return speech{Engine: engine, OutputFormat: "mp3", Text: text, TextType: "text", Voice: v.id, Language: v.code}
}

// synthesize calls SynthesizeSpeech, and returns the file and the number of characters that are billed.
func (p *Provider) synthesize(ctx context.Context, s speech) (content []byte, billed int, err error) {
	var out awsapi.Answer
	if err := p.client.Do(ctx, http.MethodPost, "/v1/speech", s, &out); err != nil {
		return nil, 0, err
	}
	billed, _ = strconv.Atoi(out.Header.Get("X-Amzn-Requestcharacters")) // 0 without it
	return out.Content, billed, nil
}

type started struct {
	Task synthesis `json:"SynthesisTask"`
}

type synthesis struct {
	ID     string `json:"TaskId"`
	Status string `json:"TaskStatus"`
	Reason string `json:"TaskStatusReason"`
	URI    string `json:"OutputUri"`
}

// key returns the key of the file of a task, or an empty key if the file is not at the requested place.
func (p *Provider) key(task synthesis) string {
	u, err := url.Parse(task.URI)
	if err != nil {
		return ""
	}
	key, ours := strings.CutPrefix(u.Path, "/"+p.bucket+"/")
	if !ours || !strings.HasPrefix(key, RawPrefix) || strings.Contains(key, "..") {
		return ""
	}
	return key
}

// Cancel implements provider.Provider. It only validates the handle: the provider cannot stop a task.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	_, err := parse(h)
	return err
}

// taskID is the form of the ids of tasks.
var taskID = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-]{1,100}$`)
})

// parse returns the id in a handle.
func parse(h provider.Handle) (string, error) {
	id, ok := strings.CutPrefix(string(h), handlePrefix)
	if !ok || !taskID().MatchString(id) {
		return "", unknown()
	}
	return id, nil
}

// voice is a voice with the language that it speaks here. Some voices speak two.
type voice struct{ id, code string }

// generative is the engine whose voices have no marks.
const generative = "generative"

// voices are the default voices, by engine and language: a language of BCP 47 with a region, or alone for all other
// regions ("Available voices" of the developer guide).
var voices = map[string]map[string]voice{
	"standard": {
		"ar":    {"Zeina", "arb"},
		"cy":    {"Gwyneth", "cy-GB"},
		"da":    {"Naja", "da-DK"},
		"de":    {"Marlene", "de-DE"},
		"en":    {"Joanna", "en-US"},
		"en-AU": {"Nicole", "en-AU"},
		"en-GB": {"Amy", "en-GB"},
		"en-IN": {"Raveena", "en-IN"},
		"es":    {"Conchita", "es-ES"},
		"es-MX": {"Mia", "es-MX"},
		"es-US": {"Lupe", "es-US"},
		"fr":    {"Celine", "fr-FR"},
		"fr-CA": {"Chantal", "fr-CA"},
		"hi":    {"Aditi", "hi-IN"},
		"is":    {"Dora", "is-IS"},
		"it":    {"Carla", "it-IT"},
		"ja":    {"Mizuki", "ja-JP"},
		"ko":    {"Seoyeon", "ko-KR"},
		"nl":    {"Lotte", "nl-NL"},
		"no":    {"Liv", "nb-NO"},
		"pl":    {"Ewa", "pl-PL"},
		"pt":    {"Vitoria", "pt-BR"},
		"pt-PT": {"Cristiano", "pt-PT"},
		"ro":    {"Carmen", "ro-RO"},
		"ru":    {"Tatyana", "ru-RU"},
		"sv":    {"Astrid", "sv-SE"},
		"tr":    {"Filiz", "tr-TR"},
		"zh":    {"Zhiyu", "cmn-CN"},
	},
	"neural": {
		"ar":    {"Hala", "ar-AE"},
		"ca":    {"Arlet", "ca-ES"},
		"cs":    {"Jitka", "cs-CZ"},
		"da":    {"Sofie", "da-DK"},
		"de":    {"Vicki", "de-DE"},
		"de-AT": {"Hannah", "de-AT"},
		"de-CH": {"Sabrina", "de-CH"},
		"en":    {"Joanna", "en-US"},
		"en-AU": {"Olivia", "en-AU"},
		"en-GB": {"Amy", "en-GB"},
		"en-IE": {"Niamh", "en-IE"},
		"en-IN": {"Kajal", "en-IN"},
		"en-NZ": {"Aria", "en-NZ"},
		"en-ZA": {"Ayanda", "en-ZA"},
		"es":    {"Lucia", "es-ES"},
		"es-MX": {"Mia", "es-MX"},
		"es-US": {"Lupe", "es-US"},
		"fi":    {"Suvi", "fi-FI"},
		"fr":    {"Lea", "fr-FR"},
		"fr-BE": {"Isabelle", "fr-BE"},
		"fr-CA": {"Gabrielle", "fr-CA"},
		"hi":    {"Kajal", "hi-IN"},
		"it":    {"Bianca", "it-IT"},
		"ja":    {"Kazuha", "ja-JP"},
		"ko":    {"Seoyeon", "ko-KR"},
		"nl":    {"Laura", "nl-NL"},
		"nl-BE": {"Lisa", "nl-BE"},
		"no":    {"Ida", "nb-NO"},
		"pl":    {"Ola", "pl-PL"},
		"pt":    {"Camila", "pt-BR"},
		"pt-PT": {"Ines", "pt-PT"},
		"sv":    {"Elin", "sv-SE"},
		"tr":    {"Burcu", "tr-TR"},
		"yue":   {"Hiujin", "yue-CN"},
		"zh":    {"Zhiyu", "cmn-CN"},
	},
	"long-form": {
		"en": {"Danielle", "en-US"},
	},
	generative: {
		"de":    {"Vicki", "de-DE"},
		"en":    {"Ruth", "en-US"},
		"en-AU": {"Olivia", "en-AU"},
		"en-GB": {"Amy", "en-GB"},
		"en-IN": {"Kajal", "en-IN"},
		"en-ZA": {"Ayanda", "en-ZA"},
		"es":    {"Lucia", "es-ES"},
		"es-MX": {"Mia", "es-MX"},
		"es-US": {"Lupe", "es-US"},
		"fr":    {"Lea", "fr-FR"},
		"fr-CA": {"Gabrielle", "fr-CA"},
		"it":    {"Bianca", "it-IT"},
	},
}

// defaultLanguage is the language of a request without one.
const defaultLanguage = "en"

// find returns the voice of an engine for a tag. It returns false if the engine does not speak the language, and an
// error if the tag is invalid.
func find(engine string, tag string) (v voice, found bool, err error) {
	parsed, err := wire.ParseLanguage(cmp.Or(tag, defaultLanguage))
	if err != nil {
		return voice{}, false, err
	}
	base, _ := parsed.Base()
	name := base.String()
	switch name {
	case "nb", "nn":
		name = "no"
	case "cmn":
		name = "zh"
	case "arb":
		name = "ar"
	}
	if region, sure := parsed.Region(); sure == language.Exact {
		if v, ok := voices[engine][name+"-"+region.String()]; ok {
			return v, true, nil
		}
	}
	v, found = voices[engine][name]
	return v, found, nil
}

// named returns the voice of a request that names one. A voice of two languages gets the language of the request. The
// others have only one.
func named(engine string, id, tag string) voice {
	v := voice{id: id}
	if usual, found, err := find(engine, tag); err == nil && found && strings.EqualFold(usual.id, id) {
		return usual
	}
	return v
}

// maxMarks bounds the marks of a text, in bytes.
const maxMarks = 1 << 20

// mark is one line of an answer.
type mark struct {
	Time  int64  `json:"time"` // ms
	Type  string `json:"type"`
	Start int    `json:"start"` // bytes
}

// marks returns the times of the words of a text, and the number of characters that were billed for them. Speech
// without them is still useful, so a failure is only logged.
func (p *Provider) marks(ctx context.Context, engine string, v voice, text string) (all []provider.Mark,
	billed int) {
	call := wire.AWSCall{Name: "polly: SynthesizeSpeech of marks", Timeout: quickTimeout, Classify: refused}
	s := newSpeech(engine, v, text)
	s.OutputFormat, s.Marks = "json", []string{"word"}
	err := call.Do(ctx, func(ctx context.Context) (err error) {
		var content []byte
		if content, billed, err = p.synthesize(ctx, s); err != nil {
			return err
		}
		if all, err = readMarks(string(content[:min(len(content), maxMarks)]), len(text)); err != nil {
			return call.Garbled(err)
		}
		return nil
	})
	if err != nil {
		slog.Warn("speech without marks", "provider", Name, "error", err)
		return nil, billed
	}
	return all, billed
}

// readMarks reads the marks of words: an object in each line.
func readMarks(lines string, length int) (all []provider.Mark, err error) {
	for line := range strings.Lines(lines) {
		var m mark
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			return nil, err
		}
		if m.Type == "word" && m.Start >= 0 && m.Start < length && m.Time >= 0 {
			all = append(all, provider.Mark{Offset: m.Start, At: time.Duration(m.Time) * time.Millisecond})
		}
	}
	return all, nil
}

// refused classifies the codes that are specific to this provider.
func refused(code, _ string) *provider.Error {
	switch code {
	case "TextLengthExceeded":
		return invalid("text_too_long", "The text is longer than the model supports.")
	case "EngineNotSupported":
		return invalid("unknown_voice", "The model has no such voice.")
	case "LanguageNotSupported":
		return invalid("unsupported_language", "The voice does not speak the language.")
	case "InvalidTaskId", "SynthesisTaskNotFound":
		return unknown()
	case "InvalidS3Bucket", "InvalidS3Key", "InvalidSnsTopicArn":
		// The bucket belongs to the service: the caller cannot correct this.
		return &provider.Error{Kind: provider.Quota, Code: "provider_access",
			Message: "The provider cannot store its result."}
	default:
		return nil
	}
}

// failure returns the error of a failed task. The provider's own message is for the log.
func failure(task synthesis) *provider.Error {
	return &provider.Error{
		Kind: provider.Rejected, Code: "generation_failed", Message: "The provider could not speak the text.",
		Cause: fmt.Errorf("polly: %.300q", task.Reason),
	}
}

func invalid(code, message string) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: code, Message: message}
}

func unknown() *provider.Error {
	return invalid("unknown_generation", "The provider does not know the generation.")
}
