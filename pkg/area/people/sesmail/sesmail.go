// Package sesmail sends the e-mails of people by Amazon SES. Start with New.
package sesmail

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

// timeout bounds a call of Amazon SES.
const timeout = 10 * time.Second

// Mailer sends e-mails from one address.
type Mailer struct {
	client       *sesv2.Client
	sender, rule string
}

var _ people.Mailer = Mailer{}

// New returns a mailer for an address of a verified domain. Rule is the name of the configuration set. A call is
// made once: the task repeats it, and knows how often.
func New(cfg aws.Config, sender, rule string) Mailer {
	client := sesv2.NewFromConfig(cfg, func(o *sesv2.Options) { o.Retryer = aws.NopRetryer{} })
	return Mailer{client, sender, rule}
}

// Send implements people.Mailer. Amazon SES takes e-mails for addresses on its suppression list, and sends them
// nothing.
func (m Mailer) Send(ctx context.Context, message people.Message) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	text := func(t string) *types.Content { return &types.Content{Data: &t, Charset: aws.String("UTF-8")} }
	in := &sesv2.SendEmailInput{FromEmailAddress: &m.sender,
		Destination: &types.Destination{ToAddresses: []string{message.To}},
		Content: &types.EmailContent{Simple: &types.Message{Subject: text(message.Subject),
			Body: &types.Body{Text: text(message.Text), Html: text(message.HTML)}}}}
	for name, value := range message.Headers() {
		in.Content.Simple.Headers = append(in.Content.Simple.Headers, types.MessageHeader{Name: &name, Value: &value})
	}
	if m.rule != "" {
		in.ConfigurationSetName = &m.rule
	}
	_, err := m.client.SendEmail(ctx, in)
	var refused smithy.APIError
	if errors.As(err, &refused) {
		return people.Refused(refused.ErrorCode(), err)
	}
	return err
}
