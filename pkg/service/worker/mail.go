package worker

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/area/people"
)

// sesTime bounds a call of Amazon SES.
const sesTime = 10 * time.Second

// SES sends e-mails by Amazon SES, from one address.
type SES struct {
	client       *sesv2.Client
	sender, rule string
}

var _ people.Mailer = SES{}

// NewSES returns a mailer for an address of a verified domain. Rule is the name of the configuration set. A call is
// made once: the task repeats it, and knows how often.
func NewSES(cfg aws.Config, sender, rule string) SES {
	client := sesv2.NewFromConfig(cfg, func(o *sesv2.Options) { o.Retryer = aws.NopRetryer{} })
	return SES{client, sender, rule}
}

// Send implements people.Mailer. Amazon SES takes e-mails for addresses on its suppression list, and sends them
// nothing.
func (s SES) Send(ctx context.Context, m people.Message) error {
	ctx, cancel := context.WithTimeout(ctx, sesTime)
	defer cancel()
	text := func(t string) *types.Content { return &types.Content{Data: &t, Charset: aws.String("UTF-8")} }
	in := &sesv2.SendEmailInput{FromEmailAddress: &s.sender,
		Destination: &types.Destination{ToAddresses: []string{m.To}},
		Content: &types.EmailContent{Simple: &types.Message{Subject: text(m.Subject),
			Body: &types.Body{Text: text(m.Text), Html: text(m.HTML)}}}}
	for name, value := range m.Headers() {
		in.Content.Simple.Headers = append(in.Content.Simple.Headers, types.MessageHeader{Name: &name, Value: &value})
	}
	if s.rule != "" {
		in.ConfigurationSetName = &s.rule
	}
	_, err := s.client.SendEmail(ctx, in)
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return people.Refused(refused.ErrorCode(), err)
	}
	return err
}
