package awsdest

import (
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials/stscreds"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"github.com/content-automation/api/pkg/area/webhook"
)

const (
	// sessionTime is the lifetime of the credentials of a role: the shortest that AWS allows.
	sessionTime = 15 * time.Minute
	// refresh is the time before their end at which credentials are replaced, so that none ends on the way.
	refresh = 3 * time.Minute
	// maxSessions bounds the roles whose credentials are kept.
	maxSessions = 1000
)

// sessions are the credentials of the roles that were assumed.
type sessions struct {
	client func() *sts.Client

	mu sync.Mutex
	of map[session]*aws.CredentialsCache
}

// session identifies credentials. A customer that names the same role has a different
// external id, and so different credentials.
type session struct{ role, externalID, name string }

func newSessions(cfg aws.Config) *sessions {
	return &sessions{client: sync.OnceValue(func() *sts.Client { return sts.NewFromConfig(cfg) }),
		of: map[session]*aws.CredentialsCache{}}
}

// credentials returns the credentials of a webhook's role. They are requested lazily, once for all concurrent attempts.
func (s *sessions) credentials(to webhook.AWSTarget) *aws.CredentialsCache {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := session{to.RoleARN, to.ExternalID, to.Session}
	if kept := s.of[key]; kept != nil {
		return kept
	}
	if len(s.of) >= maxSessions {
		clear(s.of)
	}
	provider := stscreds.NewAssumeRoleProvider(s.client(), to.RoleARN, func(o *stscreds.AssumeRoleOptions) {
		o.ExternalID, o.RoleSessionName, o.Duration = &to.ExternalID, to.Session, sessionTime
	})
	s.of[key] = aws.NewCredentialsCache(provider, func(o *aws.CredentialsCacheOptions) { o.ExpiryWindow = refresh })
	return s.of[key]
}
