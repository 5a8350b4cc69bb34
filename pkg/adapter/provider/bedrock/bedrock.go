// Package bedrock is the adapter for Amazon Bedrock: texts by Converse, images by InvokeModel, videos by
// StartAsyncInvoke into a bucket of the service. It uses the role of the function, so there is no credential.
//
// It retries no call: the queue does. Start with Provider.
package bedrock

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"github.com/content-automation/api/pkg/adapter/provider"
	"github.com/content-automation/api/pkg/adapter/provider/wire"
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
	client     *bedrockruntime.Client
	region     string
	everywhere bool
	bucket     string
	objects    provider.Objects
	standIns   provider.StandIns
}

var _ provider.Provider = (*Provider)(nil)

// New makes the adapter. It makes no call.
func New(cfg Config) *Provider {
	client := bedrockruntime.NewFromConfig(wire.AWSConfig(cfg.AWS, cfg.Endpoint))
	return &Provider{client: client, region: cfg.AWS.Region, everywhere: cfg.Everywhere, bucket: cfg.Bucket,
		objects: cfg.Objects, standIns: cfg.StandIns}
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
func (p *Provider) model(req provider.Request) *string {
	if name := provider.ProfileIn(p.region, req.Options, p.everywhere); name != "" && !arn.IsARN(req.Model) {
		return aws.String(name + "." + req.Model)
	}
	return aws.String(req.Model)
}

// badInput returns the error of a request that no model here can fulfil.
func badInput(format string, args ...any) *provider.Error {
	return &provider.Error{Kind: provider.BadInput, Code: "invalid_input", Message: fmt.Sprintf(format, args...)}
}
