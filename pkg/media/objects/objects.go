// Package objects stores media files in S3. Only workers use it: it links the S3 client and the readers of
// pkg/media/probe, which functions behind the gateway do not need. Start with Store.
package objects

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
	"github.com/content-automation/api/pkg/media/probe"
	"github.com/content-automation/api/pkg/media/provenance"
)

// MaxBytes bounds one file: it is spooled in the temporary folder of a function, which has 512 MB.
const MaxBytes = 256 << 20

// attemptTimeout bounds one attempt at one upload. It is longer than that of other calls, because a video takes longer.
const attemptTimeout = time.Minute

// Store puts files into one bucket.
type Store struct {
	client *s3.Client
	// streams reads at the pace of its consumer: only the context ends it.
	streams  *s3.Client
	bucket   string
	maxBytes int64
}

// New makes a store for the bucket. Retries are those of the configuration.
func New(cfg aws.Config, bucket string) *Store {
	open := func(timeout time.Duration) *s3.Client {
		return s3.NewFromConfig(cfg, func(o *s3.Options) {
			o.UsePathStyle = media.PathStyle(cfg)
			if c, ok := o.HTTPClient.(*awshttp.BuildableClient); ok {
				o.HTTPClient = c.WithTimeout(timeout)
			}
		})
	}
	return &Store{client: open(attemptTimeout), streams: open(0), bucket: bucket, maxBytes: MaxBytes}
}

// Bucket has the files of a bucket, and their addresses.
type Bucket struct {
	*Store
	Signer *media.Signer
}

// URL returns the address of a file for a while.
func (b Bucket) URL(ctx context.Context, key, mimeType string) (string, error) {
	return b.Signer.URL(ctx, key, mimeType)
}

// Save reads the n-th file (from 1) of a place to its end, detects its format, and stores it under the key that follows
// from the place: saving it again replaces it. Errors of body are returned wrapped. If said is not
// nil, the stored file says its origin, unless it has a manifest. Content of an unknown format, or that is too large,
// has the code unsupported_media. A store that does not accept it has provider_unavailable, which is worth a retry.
func (s *Store) Save(ctx context.Context, place media.Place, n int, body io.Reader,
	said *provenance.Statement) (media.File, error) {
	if err := place.Validate(); err != nil {
		return media.File{}, err
	}
	received, err := media.Spool(ctx, body, s.maxBytes)
	if errors.Is(err, media.ErrTooLarge) {
		return media.File{}, errs.New(errs.UnsupportedMedia, "The generated file is larger than %d MB.", s.maxBytes>>20)
	}
	if err != nil {
		return media.File{}, fmt.Errorf("objects: %w", err)
	}
	defer received.Close()
	info, err := probe.Read(received, received.Size)
	if errors.Is(err, probe.ErrUnsupported) {
		return media.File{}, errs.Wrap(err, errs.UnsupportedMedia, "The format of the generated file is not supported.")
	}
	if err != nil {
		return media.File{}, err
	}
	file := info.File()
	file.ID, file.Key = place.ID(n), place.Key(n, info.Ext)
	file.Bytes, file.SHA256 = received.Size, hex.EncodeToString(received.Sum)
	content, err := marked(ctx, &file, received, said)
	if err != nil {
		return media.File{}, err
	}
	if err := s.Put(ctx, file, content); err != nil {
		return media.File{}, errs.Wrap(err, errs.ProviderUnavailable, "The generated file could not be stored.")
	}
	return file, nil
}

// marked returns the content to store: with a statement of its origin, if it can have one. It notes in f what the
// content says.
func marked(ctx context.Context, f *media.File, received *media.Spooled, said *provenance.Statement) (io.ReadSeeker,
	error) {
	if said == nil {
		return received, nil
	}
	found, err := provenance.Read(ctx, received, received.Size)
	if errors.Is(err, provenance.ErrUnsupported) {
		return received, nil
	}
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	f.Provenance = &media.Provenance{DigitalSourceType: said.Source.URI(), C2PA: found.Manifest}
	if found.Manifest {
		return received, nil
	}
	c, err := provenance.Mark(ctx, received, received.Size, *said)
	if err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, c); err != nil {
		return nil, fmt.Errorf("objects: %w", err)
	}
	f.Bytes, f.SHA256 = c.Size(), hex.EncodeToString(hash.Sum(nil))
	return c, ctx.Err()
}

// Put stores the whole file under its key.
func (s *Store) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	return s.store(ctx, f, content, nil)
}

// PutNew is Put for a key that has no object. It returns media.ErrExists if there is one, which stays as it is.
func (s *Store) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	err := s.store(ctx, f, content, aws.String("*"))
	var refused smithy.APIError
	if errors.As(err, &refused) && refused.ErrorCode() == "PreconditionFailed" {
		return media.ErrExists
	}
	return err
}

func (s *Store) store(ctx context.Context, f media.File, content io.ReadSeeker, unless *string) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("objects: put %s: %w", f.Key, err)
	}
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil {
		return fmt.Errorf("objects: put %s: %w", f.Key, err)
	}
	if _, err := s.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket:        aws.String(s.bucket),
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

// Open starts reading the object of a key. The error has the code not_found if there is none with that key, and
// provider_unavailable if the bucket does not answer.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return read(s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(s.bucket), Key: aws.String(key)}))
}

// Range is Open for a part of the object, which is read as slowly as the caller wants.
func (s *Store) Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if length <= 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	part := fmt.Sprintf("bytes=%d-%d", offset, offset+length-1)
	return read(s.streams.GetObject(ctx, &s3.GetObjectInput{Bucket: aws.String(s.bucket), Key: aws.String(key),
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

// Sum returns the SHA-256 of the object of a key, in hexadecimal. S3 has computed it when the object was stored. An
// object without one is read. Errors are those of Open.
func (s *Store) Sum(ctx context.Context, key string) (string, error) {
	head, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &key,
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
	body, err := read(s.streams.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key}))
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

// List returns the next objects below a prefix after a key, in their order, and reports whether more follow.
func (s *Store) List(ctx context.Context, prefix, after string) (all []media.Object, more bool, err error) {
	in := &s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: &prefix}
	if after != "" {
		in.StartAfter = &after
	}
	page, err := s.client.ListObjectsV2(ctx, in)
	if err != nil {
		return nil, false, fmt.Errorf("objects: list %s: %w", prefix, err)
	}
	for _, o := range page.Contents {
		all = append(all, media.Object{Key: aws.ToString(o.Key), Bytes: aws.ToInt64(o.Size),
			At: aws.ToTime(o.LastModified)})
	}
	return all, aws.ToBool(page.IsTruncated), nil
}

// RemoveSome removes some of the objects below a prefix, and reports whether there are more.
func (s *Store) RemoveSome(ctx context.Context, prefix string) (more bool, err error) {
	some, more, err := s.List(ctx, prefix, "")
	if err != nil {
		return false, err
	}
	for _, o := range some {
		if err := s.Delete(ctx, o.Key); err != nil {
			return false, err
		}
	}
	return more, nil
}

// Delete removes one object. It succeeds if there is none.
func (s *Store) Delete(ctx context.Context, key string) error {
	if _, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.bucket, Key: &key}); err != nil {
		return fmt.Errorf("objects: remove %s: %w", key, err)
	}
	return nil
}

// Remove removes all files of an attempt. It succeeds if there are none.
func (s *Store) Remove(ctx context.Context, place media.Place) error {
	if err := place.Validate(); err != nil {
		return err
	}
	// Listed objects are removed before more are listed, so that the first page is always the next.
	for {
		page, err := s.client.ListObjectsV2(ctx,
			&s3.ListObjectsV2Input{Bucket: &s.bucket, Prefix: aws.String(place.Prefix())})
		if err != nil {
			return fmt.Errorf("objects: list %s: %w", place.Prefix(), err)
		}
		for _, object := range page.Contents {
			if err := s.Delete(ctx, *object.Key); err != nil {
				return err
			}
		}
		if !aws.ToBool(page.IsTruncated) {
			return nil
		}
	}
}
