package standalone

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/content-automation/api/pkg/cloud/seal"
	"github.com/content-automation/api/pkg/store"
)

// aws returns a configuration of the SDK for the service's own doubles at an address.
func (s *Service) aws(endpoint string) aws.Config {
	access := s.access()
	cfg := aws.Config{Region: s.options.Region,
		Credentials: aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
			return aws.Credentials(access), nil
		})}
	if endpoint != "" {
		cfg.BaseEndpoint = &endpoint
	}
	return cfg
}

// access returns the access key of the service.
func (s *Service) access() accessKey {
	secret, _ := s.secrets.get(accessSecret)
	return accessKey{AccessKeyID: accessKeyID, SecretAccessKey: secret, Source: "standalone"}
}

// AWS returns a configuration of the SDK with which the operator's command works on the service.
func (s *Service) AWS() aws.Config { return s.aws(s.Endpoint()) }

// Endpoint returns the address of the calls of AWS that the operator's command makes.
func (s *Service) Endpoint() string { return s.internal + operatorPath }

// DB returns the state table.
func (s *Service) DB() *store.DB { return s.db }

// Environment returns the variables with which the operator's command works on the service, as lines of NAME=value.
func (s *Service) Environment() string {
	access := s.access()
	var lines strings.Builder
	for _, v := range [][2]string{
		{"AWS_ENDPOINT_URL", s.Endpoint()}, {"AWS_REGION", s.options.Region}, {"AWS_ACCESS_KEY_ID", access.AccessKeyID},
		{"AWS_SECRET_ACCESS_KEY", access.SecretAccessKey}, {"TABLE_NAME", StateTable}, {"AUDIT_TABLE_NAME", AuditTable},
		{"MEDIA_BUCKET", bucket}, {"PROVIDER_SECRET", ProviderSecret}, {"PLATFORM_SECRET", PlatformSecret},
	} {
		fmt.Fprintf(&lines, "%s=%s\n", v[0], v[1])
	}
	return lines.String()
}

// Envelope returns what seals the secrets of customers.
func (s *Service) Envelope() *seal.Envelope { return s.envelope() }

// PutFile stores an object in the bucket of the media.
func (s *Service) PutFile(key string, content io.Reader) error {
	return s.blobs.put(bucket+"/"+key, content)
}
