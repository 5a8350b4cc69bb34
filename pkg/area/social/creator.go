package social

import (
	"context"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/content-automation/api/pkg/adapter/platform"
	"github.com/content-automation/api/pkg/auth"
	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/base/tenant"
	"github.com/content-automation/api/pkg/base/text"
	"github.com/content-automation/api/pkg/httpapi"
)

const (
	// creatorTime bounds a call that a caller waits for, and creatorTries the calls.
	creatorTime, creatorTries = 8 * time.Second, 2
	// creatorPause is the longest time between two calls.
	creatorPause = 500 * time.Millisecond
)

type creatorInput struct {
	// Social account.
	AccountID string `query:"social_account_id" required:"true" example:"soc_01h455vb4pex5vsknk084sn02q"`
}

// CreatorInfo is what a platform allows an account to choose now.
type CreatorInfo struct {
	// Social account.
	SocialAccountID string `json:"social_account_id"`
	// Platform of the account.
	Platform string `json:"platform"`
	// User name on the platform.
	Username string `json:"username"`
	// Display name on the platform: show it to the person who posts.
	Nickname string `json:"nickname"`
	// Whether the account may make another post now.
	CanPost bool `json:"can_post"`
	// Values of the option privacy that the account may choose. There is no default.
	Privacies []string `json:"privacies" nullable:"false"`
	// Whether comments may be permitted.
	Comments bool `json:"comments"`
	// Whether duets may be permitted.
	Duet bool `json:"duet"`
	// Whether stitches may be permitted.
	Stitch bool `json:"stitch"`
	// Longest video that the account may post. Null: not known.
	MaxVideoSeconds *int64 `json:"max_video_seconds"`
}

// registerCreator adds the operation that reads what a creator may choose.
func (s *Service) registerCreator(r *httpapi.Router) {
	httpapi.Read(r, httpapi.Op{ID: "getCreatorInfo", Method: http.MethodGet, Path: "/v1/publishing/creator-info",
		Scope: auth.SocialManage, Function: "social", Tag: "Publishing", Summary: "Get what a creator may choose",
		Description: "Returns what TikTok allows the account to choose for its next post. Read it when you show the " +
			"form for a post, as TikTok requires, and send the choices of the person in `options.tiktok`.",
		Errors: []errs.Code{errs.NotFound, errs.InvalidState, errs.ProviderUnavailable}, Opens: httpapi.Nothing,
	}, s.creator)
}

func (s *Service) creator(ctx context.Context, in *creatorInput) (out CreatorInfo, err error) {
	r, it, err := s.find(ctx, in.AccountID)
	if err != nil {
		return out, err
	}
	adapter, ok := s.platforms.Of(it.Owner.Mode, r.Platform)
	reader, reads := adapter.(platform.CreatorReader)
	switch {
	case !ok || !reads || adapter.Capabilities().Asks == nil:
		return out, errs.Invalid("social_account_id", "is not on a platform that asks for choices: only TikTok does")
	case r.State != Connected:
		return out, invalidState(&r, "The account is not connected. Connect it first.", "connect")
	}
	c, err := asked(ctx, s, it.Owner, &r, reader.CreatorInfo)
	if err != nil {
		return out, err
	}
	out = CreatorInfo{SocialAccountID: r.ID, Platform: r.Platform, Username: text.ClipLine(c.Username, maxLine),
		Nickname: text.ClipLine(c.Nickname, maxLine), CanPost: !c.Full, Privacies: texts(c.Privacies),
		Comments: c.Comments,
		Duet:     c.Duet, Stitch: c.Stitch}
	if c.MaxVideoSeconds > 0 {
		out.MaxVideoSeconds = &c.MaxVideoSeconds
	}
	return out, nil
}

// asked calls the platform for a caller who waits for the answer. The error is the caller's.
func asked[T any](ctx context.Context, s *Service, o tenant.Owner, r *Record,
	call func(context.Context, platform.Account) (T, error)) (answer T, err error) {
	ctx, token, err := s.vault.Token(ctx, o, r)
	if err != nil && !platform.Ended(err) {
		return answer, err
	}
	if err == nil {
		answer, err = retried(ctx, func(ctx context.Context) (T, error) { return call(ctx, token) })
	}
	switch {
	case err == nil:
		return answer, nil
	case platform.Ended(err):
		return answer, invalidState(r, "The platform refuses the access to the account. Connect it again.", "connect")
	}
	unavailable := errs.Wrap(err, errs.ProviderUnavailable, "The platform does not answer at the moment. Try again "+
		"in a few seconds.")
	unavailable.RetryAfter = 5 * time.Second
	return answer, unavailable
}

// retried calls the platform. A failure that may pass is followed by one more call.
func retried[T any](ctx context.Context, call func(context.Context) (T, error)) (c T, err error) {
	for n := range creatorTries {
		if n > 0 {
			select {
			case <-ctx.Done():
				return c, err
			case <-time.After(creatorPause/2 + rand.N(creatorPause/2)):
			}
		}
		bounded, cancel := context.WithTimeout(ctx, creatorTime)
		c, err = call(bounded)
		cancel()
		if err == nil || !platform.Passes(err) || platform.WaitOf(err) > creatorPause {
			return c, err
		}
	}
	return c, err
}
