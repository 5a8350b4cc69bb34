// Package s3objects makes the calls of package objects on a bucket of S3. Start with New.
package s3objects

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
)

// attemptTimeout bounds one attempt at one upload. It is longer than that of other calls, because a video takes longer.
const attemptTimeout = time.Minute

// Client makes the calls of one bucket. It is safe for concurrent use.
type Client struct {
	client *s3.Client
	// streams reads at the pace of its consumer: only the context ends it.
	streams *s3.Client
	bucket  string
}

var _ objects.Client = (*Client)(nil)

// New returns the client of a bucket. Retries are those of the configuration.
func New(cfg aws.Config, bucket string) *Client {
	open := func(timeout time.Duration) *s3.Client {
		return s3.NewFromConfig(cfg, func(o *s3.Options) {
			o.UsePathStyle = media.PathStyle(cfg)
			if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
				o.HTTPClient = c.WithTimeout(timeout)
			}
		})
	}
	return &Client{client: open(attemptTimeout), streams: open(0), bucket: bucket}
}

// Put implements objects.Client.
func (c *Client) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	return c.store(ctx, f, content, nil)
}

// PutNew implements objects.Client.
func (c *Client) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	err := c.store(ctx, f, content, aws.String("*"))
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "PreconditionFailed" {
		return media.ErrExists
	}
	return err
}

func (c *Client) store(ctx context.Context, f media.File, content io.ReadSeeker, unless *string) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("objects: put %s: %w", f.Key, err)
	}
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil {
		return fmt.Errorf("objects: put %s: %w", f.Key, err)
	}
	if _, err := c.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:        aws.String(c.bucket),
		Key:           aws.String(f.Key),
		Body:          content,
		ContentLength: aws.Int64(f.Bytes),
		ContentType:   aws.String(f.MIMEType),
		// The store refuses content that was changed on its way.
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(sum)),
		IfNoneMatch:    unless,
	}); err != nil {
		return fmt.Errorf("objects: put %s: %w", f.Key, err)
	}
	return nil
}

// Open implements objects.Client.
func (c *Client) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return read(c.client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(c.bucket), Key: aws.String(key)}))
}

// Range implements objects.Client.
func (c *Client) Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if length <= 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	part := fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	return read(c.streams.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(c.bucket), Key: aws.String(key),
		Range: &part}))
}

func read(out *s3.GetObjectOutput, err error) (io.ReadCloser, error) {
	var missing *types.NoSuchKey
	switch {
	case errors.As(err, &missing):
		return nil, errs.Wrap(err, errs.NotFound, "The file does not exist.")
	case err != nil:
		return nil, errs.Wrap(err, errs.ProviderUnavailable, "The file could not be read.")
	default:
		return out.Body, nil
	}
}

// Sum implements objects.Client. S3 has computed the sum when the object was stored. An object without one is read.
func (c *Client) Sum(ctx context.Context, key string) (string, error) {
	head, err := c.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &c.bucket, Key: &key,
		ChecksumMode: types.ChecksumModeEnabled})
	var missing *types.NotFound
	switch {
	case errors.As(err, &missing):
		return "", errs.Wrap(err, errs.NotFound, "The file does not exist.")
	case err != nil:
		return "", errs.Wrap(err, errs.ProviderUnavailable, "The file could not be read.")
	}
	// The checksum of an object of several parts is that of the checksums of its parts.
	sum, err := base64.StdEncoding.DecodeString(aws.ToString(head.ChecksumSHA256))
	if err == nil && len(sum) == sha256.Size && head.ChecksumType != types.ChecksumTypeComposite {
		return hex.EncodeToString(sum), nil
	}
	body, err := read(c.streams.GetObject(ctx, &s3.GetObjectInput{Bucket: &c.bucket, Key: &key}))
	if err != nil {
		return "", err
	}
	defer body.Close()
	hash := sha256.New()
	if _, err := io.Copy(hash, body); err != nil {
		return "", errs.Wrap(err, errs.ProviderUnavailable, "The file could not be read.")
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// List implements objects.Client.
func (c *Client) List(ctx context.Context, prefix, after string) (all []media.Object, more bool, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &c.bucket, Prefix: &prefix}
	if after != "" {
		in.StartAfter = &after
	}
	page, err := c.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, false, fmt.Errorf("objects: list %s: %w", prefix, err)
	}
	for _, o := range page.Contents {
		all = append(all, media.Object{Key: aws.ToString(o.Key), Bytes: aws.ToInt64(o.Size),
			At: aws.ToTime(o.LastModified)})
	}
	return all, aws.ToBool(page.IsTruncated), nil
}

// Delete implements objects.Client.
func (c *Client) Delete(ctx context.Context, key string) error {
	if _, err := c.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &c.bucket, Key: &key}); err != nil {
		return fmt.Errorf("objects: remove %s: %w", key, err)
	}
	return nil
}
