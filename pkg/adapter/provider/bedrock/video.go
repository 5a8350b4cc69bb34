package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/document"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"

	"github.com/content-automation/api/pkg/adapter/provider"
)

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
	var out *bedrockruntime.StartAsyncInvokeOutput
	// The client token makes the call idempotent: a lost answer is Transient.
	if err := call("StartAsyncInvoke", quickTimeout, false).Do(ctx, func(ctx context.Context) (err error) {
		out, err = p.client.StartAsyncInvoke(ctx, &bedrockruntime.StartAsyncInvokeInput{
			ModelId: p.model(req),
			ModelInput: document.NewLazyDocument(map[string]any{
				"prompt": provider.Clip(req.Prompt, maxVideoPrompt), "aspect_ratio": ratio,
				"duration": strconv.Itoa(seconds) + "s", "resolution": size, "loop": false,
			}),
			OutputDataConfig: &types.AsyncInvokeOutputDataConfigMemberS3OutputDataConfig{
				Value: types.AsyncInvokeS3OutputDataConfig{S3Uri: aws.String("s3://" + p.bucket +
					"/" + RawPrefix + req.Account)},
			},
			ClientRequestToken: clientToken(req.ClientToken),
		})
		return err
	}); err != nil {
		return provider.Submission{}, err
	}
	h := provider.Handle(aws.ToString(out.InvocationArn))
	if check(h) != nil {
		return provider.Submission{}, call("StartAsyncInvoke", quickTimeout,
			false).Garbled(fmt.Errorf("the invocation is called %q", h))
	}
	return provider.Submission{Handle: h}, nil
}

// invocation is the form of a handle: the ARN of an invocation.
var invocation = regexp.MustCompile(`^arn:aws[a-z-]*:bedrock:[a-z0-9-]{1,20}:[0-9]{12}:async-invoke/[a-z0-9]{12}$`)

func check(h provider.Handle) error {
	if !invocation.MatchString(string(h)) {
		return unknown(fmt.Errorf("%.100q is no invocation", h))
	}
	return nil
}

func unknown(cause error) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: "unknown_generation",
		Message: "The provider does not know the generation.", Cause: cause}
}

// clientToken converts a token to a form that Bedrock accepts.
func clientToken(token string) *string {
	if token == "" {
		return nil
	}
	sum := sha256.Sum256([]byte(token))
	return aws.String(hex.EncodeToString(sum[:]))
}

// Poll implements provider.Provider.
func (p *Provider) Poll(ctx context.Context, h provider.Handle) (provider.Status, error) {
	out, err := p.look(ctx, h)
	if err != nil {
		return provider.Status{}, err
	}
	switch out.Status {
	case types.AsyncInvokeStatusInProgress:
		return provider.Status{State: provider.Running, Wait: pollAfter}, nil
	case types.AsyncInvokeStatusCompleted:
		return provider.Status{State: provider.Succeeded, Progress: 100}, nil
	case types.AsyncInvokeStatusFailed:
		return provider.Status{State: provider.Failed, Failure: failure(out)}, nil
	default:
		return provider.Status{}, call("GetAsyncInvoke", quickTimeout,
			false).Garbled(fmt.Errorf("the status is %q", out.Status))
	}
}

// Fetch implements provider.Provider.
func (p *Provider) Fetch(ctx context.Context, h provider.Handle) (provider.Result, error) {
	out, err := p.look(ctx, h)
	if err != nil {
		return provider.Result{}, err
	}
	switch out.Status {
	case types.AsyncInvokeStatusCompleted:
	case types.AsyncInvokeStatusFailed:
		return provider.Result{}, failure(out)
	default:
		return provider.Result{}, &provider.Error{Kind: provider.Transient, Code: "not_ready",
			Message: "The generation has not ended.", RetryAfter: pollAfter}
	}
	key, err := p.key(h, out)
	if err != nil {
		return provider.Result{}, &provider.Error{
			Kind: provider.Rejected, Code: "result_invalid",
			Message: "The provider returned a result that cannot be read.", Cause: err,
		}
	}
	return provider.Result{Media: []provider.File{{Open: func(ctx context.Context) (io.ReadCloser,
		error) {
		return provider.OpenFile(ctx, p.objects, key)
	}}}}, nil
}

func (p *Provider) look(ctx context.Context, h provider.Handle) (out *bedrockruntime.GetAsyncInvokeOutput, err error) {
	if err := check(h); err != nil {
		return nil, err
	}
	err = call("GetAsyncInvoke", quickTimeout, false).Do(ctx, func(ctx context.Context) (err error) {
		out, err = p.client.GetAsyncInvoke(ctx,
			&bedrockruntime.GetAsyncInvokeInput{InvocationArn: aws.String(string(h))})
		return err
	})
	return out, err
}

// key returns the video's key in the bucket, in the folder of its invocation. The address from Bedrock may or may not
// include that folder.
func (p *Provider) key(h provider.Handle, out *bedrockruntime.GetAsyncInvokeOutput) (string, error) {
	s3, ok := out.OutputDataConfig.(*types.AsyncInvokeOutputDataConfigMemberS3OutputDataConfig)
	if !ok {
		return "", errors.New("GetAsyncInvoke: there is no output")
	}
	address, err := url.Parse(aws.ToString(s3.Value.S3Uri))
	if err != nil || address.Scheme != "s3" || address.Host != p.bucket {
		return "", fmt.Errorf("GetAsyncInvoke: the output is at %.200q", aws.ToString(s3.Value.S3Uri))
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

// failure returns the error of a failed invocation.
func failure(out *bedrockruntime.GetAsyncInvokeOutput) *provider.Error {
	message := aws.ToString(out.FailureMessage)
	cause := errors.New("GetAsyncInvoke: " + message)
	if aboutContent(message) {
		return filtered(cause)
	}
	return failed(cause)
}
