// Package bedrock is the adapter for Amazon Bedrock: texts by Converse, images by InvokeModel, videos by
// StartAsyncInvoke into a bucket of the service. It uses the role of the function, so there is no credential.
//
// It retries no call: the queue does. Start with Provider.
package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/smithy-go/encoding/httpbinding"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
	"github.com/content-automation/api/pkg/cloud/awsapi"
)

// Name is the provider's name.
const Name = "bedrock"

// The timeouts of the calls. Models that return the result with the answer take longer.
const (
	textTimeout  = 60 * time.Second
	imageTimeout = 60 * time.Second
	quickTimeout = 10 * time.Second
)

// Config has the dependencies of the adapter.
type Config struct {
	// AWS has region and credentials. Its endpoint, retries and HTTP client are not used: see wire.AWSConfig.
	AWS aws.Config
	// Endpoint replaces Bedrock's own address.
	Endpoint string
	// Bucket is the bucket for videos, and Objects reads from it.
	Bucket  string
	Objects provider.Objects
	// Everywhere permits the global inference profiles, for models without a profile of the region's geography.
	Everywhere bool
	// StandIns are the text models that take the place of those that AWS refuses to the account.
	StandIns provider.StandIns
}

// Provider is the adapter.
type Provider struct {
	provider.Jobs
	client     *awsapi.Client
	region     string
	everywhere bool
	bucket     string
	objects    provider.Objects
	standIns   provider.StandIns
}

var _ provider.Provider = (*Provider)(nil)

// New makes the adapter. It makes no call.
func New(cfg Config) *Provider {
	client := awsapi.New(wire.AWSConfig(cfg.AWS, cfg.Endpoint), "bedrock-runtime", "bedrock")
	p := &Provider{client: client, region: cfg.AWS.Region, everywhere: cfg.Everywhere, bucket: cfg.Bucket,
		objects: cfg.Objects, standIns: cfg.StandIns}
	p.Jobs = p.look
	return p
}

// Name implements provider.Provider.
func (p *Provider) Name() string { return Name }

// Capabilities implements provider.Provider. Only videos take a client token.
func (p *Provider) Capabilities() provider.Capabilities {
	return provider.Capabilities{
		Submission: max(textTimeout, imageTimeout), Unstoppable: true,
		Kinds: map[provider.Kind]provider.Capability{
			provider.KindText:  {},
			provider.KindImage: {AspectRatios: imageRatios},
			provider.KindVideo: {AspectRatios: videoRatios, MaxSeconds: maxSeconds},
		},
	}
}

// Submit implements provider.Provider. It returns texts and images at once.
func (p *Provider) Submit(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if err := req.Validate(p.Capabilities()); err != nil {
		return provider.Submission{}, err
	}
	switch req.Kind {
	case provider.KindText:
		return p.write(ctx, req)
	case provider.KindImage:
		return p.draw(ctx, req)
	default:
		return p.film(ctx, req)
	}
}

// Cancel implements provider.Provider. It only validates the handle: Bedrock cannot stop an invocation.
func (p *Provider) Cancel(ctx context.Context, h provider.Handle) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return check(h)
}

// model returns the id by which a request's model is called from this region. A trained model is called by the ARN of
// its deployment.
func (p *Provider) model(req provider.Request) string {
	if name := provider.ProfileIn(p.region, req.Options, p.everywhere); name != "" && !arn.IsARN(req.Model) {
		return name + "." + req.Model
	}
	return req.Model
}

// badInput returns the error of a request that no model here can fulfil.
func badInput(format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: "invalid_input", Message: fmt.Sprintf(format, args...)}
}

// write has a text written, by another model if AWS refuses the requested one.
func (p *Provider) write(ctx context.Context, req provider.Request) (sub provider.Submission, err error) {
	var standIn string
	standIn, err = p.standIns.Call(req.Model, req.Options, func(model string, options map[string]string) error {
		req.Model, req.Options = model, options
		sub, err = p.writeBy(ctx, req)
		return err
	})
	sub.StandIn = standIn
	return sub, err
}

func (p *Provider) writeBy(ctx context.Context, req provider.Request) (provider.Submission, error) {
	system, prompt := provider.TextPrompt(req)
	in := converseInput{Messages: []message{{Role: user, Content: []block{{Text: prompt}}}}}
	if system != "" {
		in.System = []block{{Text: system}}
	}
	// The price was fixed by this bound of the answer.
	in.Inference.MaxTokens = provider.TextTokens(req).Output
	var out converseOutput
	err := call("Converse", textTimeout, true).Do(ctx, func(ctx context.Context) error {
		return p.client.Do(ctx, http.MethodPost, modelPath(p.model(req), "converse"), in, &out)
	})
	if err != nil {
		return provider.Submission{}, err
	}
	if req.Form == nil && slices.Contains(flaggedStops, out.StopReason) {
		flagged := provider.FailureOf(provider.FailedFlagged)
		flagged.Cause = errors.New("Converse stopped: " + out.StopReason)
		return provider.Submission{}, flagged
	}
	if err := stopped(out.StopReason); err != nil {
		return provider.Submission{}, err
	}
	if req.Form != nil {
		object, err := provider.ParseObject(words(out.Output.Message))
		if err != nil {
			return provider.Submission{}, err
		}
		return provider.Submission{Result: &provider.Result{Object: object}}, nil
	}
	text, err := provider.ParseText(words(out.Output.Message), req)
	if err != nil {
		return provider.Submission{}, err
	}
	return provider.Submission{Result: &provider.Result{Text: &text}}, nil
}

// words returns the text of the model, without its reasoning.
func words(m *message) string {
	if m == nil {
		return ""
	}
	var b strings.Builder
	for _, block := range m.Content {
		b.WriteString(block.Text)
	}
	return b.String()
}

var _ provider.Converser = (*Provider)(nil)

// Converse implements provider.Converser.
func (p *Provider) Converse(ctx context.Context, c provider.Conversation) (provider.Turn, error) {
	in := converseInput{System: []block{{Text: c.System}}}
	in.Inference.MaxTokens = c.Tokens
	for _, t := range c.Turns {
		in.Messages = append(in.Messages, messageOf(t))
	}
	if len(c.Tools) > 0 {
		in.ToolConfig = &toolConfig{Tools: make([]tool, len(c.Tools))}
	}
	for i, t := range c.Tools {
		spec := &in.ToolConfig.Tools[i].Spec
		spec.Name, spec.Description, spec.InputSchema = t.Name, t.Description, document{t.Input}
	}
	var turn provider.Turn
	call := call("Converse", textTimeout, true)
	_, err := p.standIns.Call(c.Model, c.Options, func(model string, options map[string]string) error {
		path := modelPath(p.model(provider.Request{Model: model, Options: options}), "converse")
		return call.Do(ctx, func(ctx context.Context) error {
			var out converseOutput
			if err := p.client.Do(ctx, http.MethodPost, path, in, &out); err != nil {
				return err
			}
			if err := stopped(out.StopReason); err != nil {
				return err
			}
			var err error
			if turn, err = turnOf(out.Output.Message); err != nil {
				return call.Garbled(err)
			}
			return nil
		})
	})
	return turn, err
}

// flaggedStops are the reasons for which an answer ends because of its content.
var flaggedStops = []string{"content_filtered", "guardrail_intervened"}

// stopped returns the error of an answer that ended early, or nil if the answer can be used.
func stopped(reason string) error {
	switch reason {
	case "content_filtered", "guardrail_intervened":
		return filterError(errors.New("Converse stopped: " + reason))
	case "model_context_window_exceeded":
		return badInput("The prompt is longer than the model can read.")
	case "malformed_model_output", "malformed_tool_use":
		return &provider.Error{Kind: provider.Transient, Code: "text_unreadable",
			Message: "The model's text could not be read.", Cause: errors.New("Converse stopped: " + reason)}
	}
	return nil
}

// user is the role of who is not the model.
const user = "user"

// messageOf returns a turn in the form of Bedrock.
func messageOf(t provider.Turn) message {
	m := message{Role: user}
	if t.Model {
		m.Role = "assistant"
	}
	// The results of tools come first.
	for _, r := range t.Results {
		status := "success"
		if r.Failed {
			status = "error"
		}
		m.Content = append(m.Content, block{ToolResult: &toolResult{ID: r.ID, Status: status,
			Content: []document{{r.Content}}}})
	}
	if strings.TrimSpace(t.Text) != "" {
		m.Content = append(m.Content, block{Text: t.Text})
	}
	for _, c := range t.Calls {
		m.Content = append(m.Content, block{ToolUse: &toolUse{c.ID, c.Name, c.Input}})
	}
	return m
}

// turnOf reads a turn of the model, without its reasoning.
func turnOf(m *message) (provider.Turn, error) {
	t := provider.Turn{Model: true, Text: strings.TrimSpace(words(m))}
	if m == nil {
		return t, errors.New("there is no message")
	}
	for _, block := range m.Content {
		use := block.ToolUse
		if use == nil {
			continue
		}
		c := provider.ToolCall{ID: use.ID, Name: use.Name, Input: use.Input}
		if len(c.Input) == 0 || string(c.Input) == "null" {
			c.Input = json.RawMessage("{}")
		}
		t.Calls = append(t.Calls, c)
	}
	if t.Text == "" && len(t.Calls) == 0 {
		return t, errors.New("the message is empty")
	}
	return t, nil
}

// guardTimeout bounds the time of a moderation, which takes less than a second as a rule.
const guardTimeout = 15 * time.Second

// Guardrail moderates texts by a guardrail of the AWS account.
type Guardrail struct {
	provider    *Provider
	id, version string
}

var _ provider.Moderator = (*Guardrail)(nil)

// Guardrail returns the guardrail of a name: its id, a colon, and its version or DRAFT.
func (p *Provider) Guardrail(name string) *Guardrail {
	id, version, _ := strings.Cut(name, ":")
	return &Guardrail{p, id, version}
}

// Moderate implements provider.Moderator. A text is flagged if the guardrail blocks or masks a part of it.
func (g *Guardrail) Moderate(ctx context.Context, text string) (flagged bool, err error) {
	const none, intervened = "NONE", "GUARDRAIL_INTERVENED"
	var out struct {
		Action string `json:"action"`
	}
	in := guardrailInput{Source: "OUTPUT", Content: []guardrailBlock{{Text: block{Text: text}}}}
	apply := call("ApplyGuardrail", guardTimeout, false)
	err = apply.Do(ctx, func(ctx context.Context) error {
		err := g.provider.client.Do(ctx, http.MethodPost, "/guardrail/"+httpbinding.EscapePath(g.id, true)+"/version/"+
			httpbinding.EscapePath(g.version, true)+"/apply", in, &out)
		if err == nil && out.Action != none && out.Action != intervened {
			err = apply.Garbled(fmt.Errorf("the action is %q", out.Action))
		}
		return err
	})
	return err == nil && out.Action != none, err
}

// Open returns a provider that calls text models and guardrails alone. The endpoint of fakes replaces AWS, unless it is
// empty. Stand-ins may be nil.
func Open(cfg aws.Config, fakes string, standIns provider.StandIns) *Provider {
	if fakes != "" {
		fakes += "/" + Name
	}
	return New(Config{AWS: cfg, Endpoint: fakes, StandIns: standIns})
}

// Moderator returns the guardrail of a name, or nil if the name is empty. See Open for the fakes.
func Moderator(cfg aws.Config, guardrail, fakes string) provider.Moderator {
	if guardrail == "" {
		return nil
	}
	return Open(cfg, fakes, nil).Guardrail(guardrail)
}

// imageRatios are the ratios of Stability's models. The first one is the default, as in their API.
var imageRatios = []string{"1:1", "4:5", "9:16", "16:9", "2:3", "3:2", "5:4", "21:9"}

// maxPrompt is the length of the longest prompt, in characters.
const maxPrompt = 10_000

type stabilityInput struct {
	Prompt       string `json:"prompt"`
	Mode         string `json:"mode"`
	AspectRatio  string `json:"aspect_ratio"`
	Seed         uint32 `json:"seed"`
	OutputFormat string `json:"output_format"`
}

// imageOutput is the answer of a model.
type imageOutput struct {
	Images  [][]byte  `json:"images"`         // base64
	Reasons []*string `json:"finish_reasons"` // null, or the reason for a missing image
}

func (p *Provider) draw(ctx context.Context, req provider.Request) (provider.Submission, error) {
	in, err := imageInput(req)
	if err != nil {
		return provider.Submission{}, err
	}
	c := call("InvokeModel", imageTimeout, true)
	var answer imageOutput
	if err := c.Do(ctx, func(ctx context.Context) error {
		return p.client.Do(ctx, http.MethodPost, modelPath(p.model(req), "invoke"), in, &answer)
	}); err != nil {
		return provider.Submission{}, err
	}
	for _, reason := range answer.Reasons {
		if reason != nil && *reason != "" {
			return provider.Submission{}, endError(*reason)
		}
	}
	if len(answer.Images) != 1 || len(answer.Images[0]) == 0 {
		return provider.Submission{}, c.Garbled(fmt.Errorf("%d images", len(answer.Images)))
	}
	return provider.Submission{Result: &provider.Result{Media: []provider.File{provider.FileOf(answer.Images[0])}}}, nil
}

// imageInput converts a request to the form of its model.
func imageInput(req provider.Request) (in stabilityInput, err error) {
	ratio := req.AspectRatio
	if ratio == "" {
		ratio = imageRatios[0]
	}
	if !strings.HasPrefix(req.Model, "stability.") {
		return in, badInput("The provider has no image model %q.", req.Model)
	}
	return stabilityInput{
		Prompt: provider.Clip(req.Prompt, maxPrompt), Mode: "text-to-image", AspectRatio: ratio, Seed: seed(req),
		OutputFormat: "png",
	}, nil
}

// seed derives a seed from the client token: a request that is submitted again, because the answer was lost, gets the
// same picture.
func seed(req provider.Request) uint32 {
	const most = 1<<32 - 2
	h := fnv.New32a()
	_, _ = io.WriteString(h, req.ClientToken) // a hash takes everything
	return h.Sum32()%most + 1                 // 0 would be a random seed
}

// endError returns the error of a model that made no image for the given reason.
func endError(reason string) *provider.Error {
	cause := errors.New("InvokeModel: " + reason)
	if aboutContent(reason) {
		return filterError(cause)
	}
	return failedError(cause)
}

// videoRatios and videoSeconds are those of Luma's Ray 2. The first of each is the default.
var (
	videoRatios  = []string{"16:9", "9:16", "1:1", "4:3", "3:4", "21:9"}
	videoSeconds = []int{5, 9}
)

const (
	maxSeconds     = 9
	maxVideoPrompt = 5000
	// resolution is the resolution of a video if the catalog fixes none.
	resolution = "720p"

	// RawPrefix is the prefix of the keys of Bedrock's videos in the bucket, before the account's id. The service
	// copies results elsewhere, and the bucket expires these.
	RawPrefix = "raw/bedrock/"
	// output is the name of the video in the folder of its invocation.
	output = "output.mp4"

	// A video takes minutes.
	pollAfter = 10 * time.Second
)

// film starts a video.
func (p *Provider) film(ctx context.Context, req provider.Request) (provider.Submission, error) {
	if !strings.HasPrefix(req.Model, "luma.ray") {
		return provider.Submission{}, badInput("The provider has no video model %q.", req.Model)
	}
	seconds, ratio, size := videoSeconds[0], videoRatios[0], resolution
	if req.Seconds > videoSeconds[0] {
		seconds = videoSeconds[1]
	}
	if req.Seconds != 0 && req.Seconds != seconds {
		return provider.Submission{}, badInput("The model makes videos of %d or %d s, not of %d s.", videoSeconds[0],
			videoSeconds[1], req.Seconds)
	}
	if req.AspectRatio != "" {
		ratio = req.AspectRatio
	}
	if fixed := req.Options["resolution"]; fixed != "" {
		size = fixed
	}
	in := videoInput{Model: p.model(req), Token: clientToken(req.ClientToken), Input: map[string]any{
		"prompt": provider.Clip(req.Prompt, maxVideoPrompt), "aspect_ratio": ratio,
		"duration": strconv.Itoa(seconds) + "s", "resolution": size, "loop": false,
	}}
	in.Output.S3.URI = "s3://" + p.bucket + "/" + RawPrefix + req.Account
	var out struct {
		Handle provider.Handle `json:"invocationArn"`
	}
	// The client token makes the call idempotent: a lost answer is Transient.
	if err := call("StartAsyncInvoke", quickTimeout, false).Do(ctx, func(ctx context.Context) error {
		return p.client.Do(ctx, http.MethodPost, "/async-invoke", in, &out)
	}); err != nil {
		return provider.Submission{}, err
	}
	h := out.Handle
	if check(h) != nil {
		return provider.Submission{}, call("StartAsyncInvoke", quickTimeout,
			false).Garbled(fmt.Errorf("the invocation is called %q", h))
	}
	return provider.Submission{Handle: h}, nil
}

// invocation is the form of a handle: the ARN of an invocation.
var invocation = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^arn:aws[a-z-]*:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:async-invoke/[a-z0-9]{12}$`)
})

func check(h provider.Handle) error {
	if !invocation().MatchString(string(h)) {
		return unknown(fmt.Errorf("%.100q is no invocation", h))
	}
	return nil
}

func unknown(cause error) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: "unknown_generation",
		Message: "The provider does not know the generation.", Cause: cause}
}

// clientToken converts a token to a form that Bedrock accepts.
func clientToken(token string) string {
	if token == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// look reads an invocation.
func (p *Provider) look(ctx context.Context, h provider.Handle) (j provider.Job, err error) {
	if err := check(h); err != nil {
		return j, err
	}
	var out invocationOutput
	get := call("GetAsyncInvoke", quickTimeout, false)
	if err := get.Do(ctx, func(ctx context.Context) error {
		return p.client.Do(ctx, http.MethodGet, "/async-invoke/"+httpbinding.EscapePath(string(h), true), nil, &out)
	}); err != nil {
		return j, err
	}
	switch out.Status {
	case "InProgress":
		j.State, j.Wait = provider.Running, pollAfter
	case "Completed":
		j.State = provider.Succeeded
	case "Failed":
		j.State, j.Failure = provider.Failed, failure(out)
	default:
		return j, get.Garbled(fmt.Errorf("the status is %q", out.Status))
	}
	j.Result = func() (provider.Result, error) {
		key, err := p.key(h, out)
		if err != nil {
			return provider.Result{}, &provider.Error{Kind: provider.Rejected, Code: "result_invalid",
				Message: "The provider returned a result that cannot be read.", Cause: err}
		}
		return provider.Result{Media: []provider.File{provider.StoredFile(p.objects, key)}}, nil
	}
	return j, nil
}

// key returns the video's key in the bucket, in the folder of its invocation. The address from Bedrock may or may not
// include that folder.
func (p *Provider) key(h provider.Handle, out invocationOutput) (string, error) {
	uri := out.Output.S3.URI
	address, err := url.Parse(uri)
	if err != nil || address.Scheme != "s3" || address.Host != p.bucket {
		return "", fmt.Errorf("GetAsyncInvoke: the output is at %.200q", uri)
	}
	folder := strings.Trim(path.Clean(address.Path), "/")
	if id := path.Base(string(h)); path.Base(folder) != id {
		folder = path.Join(folder, id)
	}
	if !strings.HasPrefix(folder, RawPrefix) {
		return "", fmt.Errorf("GetAsyncInvoke: the output is in %.200q", folder)
	}
	return folder + "/" + output, nil
}

func failure(out invocationOutput) *provider.Error {
	cause := errors.New("GetAsyncInvoke: " + out.Failure)
	if aboutContent(out.Failure) {
		return filterError(cause)
	}
	return failedError(cause)
}

// call is a call of the API. A call that submits starts a generation and takes no client token.
func call(name string, timeout time.Duration, submits bool) wire.AWSCall {
	return wire.AWSCall{Name: "bedrock: " + name, Timeout: timeout, Submits: submits, Classify: refused}
}

// refused classifies the codes whose meaning is specific to Bedrock.
func refused(code, message string) *provider.Error {
	is := func(kind provider.ErrorKind, code, message string) *provider.Error {
		return &provider.Error{Kind: kind, Code: code, Message: message}
	}
	switch code {
	case "Throttling":
		if strings.Contains(message, "per day") {
			return is(provider.Quota, "provider_quota", "The service's quota at the provider is used up for now.")
		}
	case "ModelTimeout", "ModelNotReady", "ModelError":
		return is(provider.Transient, "provider_unavailable", "The provider is unavailable at the moment.")
	case "Validation":
		if aboutContent(message) {
			return is(provider.BadInput, provider.CodeContentPolicy, provider.MessageContentPolicy)
		}
		if strings.Contains(message, "model identifier is invalid") {
			return is(provider.BadInput, string(provider.FailedModel), "The provider does not have the model.")
		}
	case "AccessDenied": // the account has no access to the model, which is permanent
		return is(provider.BadInput, provider.CodeAccess, "The provider refuses the service's account.")
	case "ResourceNotFound":
		return is(provider.BadInput, string(provider.FailedModel), "The provider does not have the model.")
	}
	return nil
}

// aboutContent reports whether a message is about content rules rather than format.
func aboutContent(message string) bool {
	message = strings.ToLower(message)
	for _, word := range []string{"content filter", "filter reason", "responsible ai", "moderat", "content polic"} {
		if strings.Contains(message, word) {
			return true
		}
	}
	return false
}

// filterError returns the error of a request that the provider's content rules forbid.
func filterError(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: provider.CodeContentPolicy,
		Message: provider.MessageContentPolicy, Cause: cause}
}

// failedError returns the error of a generation that failed without a useful reason.
func failedError(cause error) *provider.Error {
	return &provider.Error{Kind: provider.Rejected, Code: "generation_failed",
		Message: "The provider could not finish the generation.", Cause: cause}
}
