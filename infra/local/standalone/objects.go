package standalone

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/content-automation/api/pkg/base/errs"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/media/objects"
)

// localObjects are the objects of the bucket of the media for the service itself, which need no network.
type localObjects struct{ *buckets }

var _ objects.Client = (*localObjects)(nil)

// Put implements objects.Client.
func (o *localObjects) Put(ctx context.Context, f media.File, content io.ReadSeeker) error {
	if _, err := content.Seek(0, io.SeekStart); err != nil {
		return err
	}
	sum, err := hex.DecodeString(f.SHA256)
	if err != nil {
		return err
	}
	c := &checked{r: content, sum: sha256.New(), want: base64.StdEncoding.EncodeToString(sum)}
	if err := errors.Join(ctx.Err(), o.blobs.put(bucket+"/"+f.Key, c)); err != nil {
		return err
	}
	o.put(bucket, f.Key)
	return nil
}

// PutNew implements objects.Client.
func (o *localObjects) PutNew(ctx context.Context, f media.File, content io.ReadSeeker) error {
	if there, _, err := o.blobs.open(bucket + "/" + f.Key); err == nil {
		_ = there.Close()
		return media.ErrExists
	}
	return o.Put(ctx, f, content)
}

// Open implements objects.Client.
func (o *localObjects) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	return o.open(ctx, key)
}

func (o *localObjects) open(ctx context.Context, key string) (io.ReadSeekCloser, error) {
	object, _, err := o.blobs.open(bucket + "/" + key)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errs.Wrap(err, errs.NotFound, "The file does not exist.")
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, errs.Wrap(err, errs.ProviderUnavailable, "The file could not be read.")
	}
	return object, nil
}

// Range implements objects.Client.
func (o *localObjects) Range(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	if length <= 0 {
		return io.NopCloser(strings.NewReader("")), nil
	}
	object, err := o.open(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err := object.Seek(offset, io.SeekStart); err != nil {
		_ = object.Close()
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{io.LimitReader(object, length), object}, nil
}

// Sum implements objects.Client.
func (o *localObjects) Sum(ctx context.Context, key string) (string, error) {
	object, err := o.open(ctx, key)
	if err != nil {
		return "", err
	}
	defer func() { _ = object.Close() }()
	hash := sha256.New()
	_, err = io.Copy(hash, object)
	return hex.EncodeToString(hash.Sum(nil)), err
}

// List implements objects.Client.
func (o *localObjects) List(_ context.Context, prefix, after string) (all []media.Object, more bool, err error) {
	names, err := o.blobs.list(bucket + "/" + prefix)
	if after != "" {
		at, _ := slices.BinarySearch(names, bucket+"/"+after+"\x00")
		names = names[at:]
	}
	for i, name := range names {
		if i == mostListed {
			return all, true, err
		}
		object, at, opened := o.blobs.open(name)
		if opened != nil {
			continue // removed meanwhile
		}
		size, _ := object.Seek(0, io.SeekEnd)
		_ = object.Close()
		all = append(all, media.Object{Key: strings.TrimPrefix(name, bucket+"/"), Bytes: size, At: at.UTC()})
	}
	return all, false, err
}

// Delete implements objects.Client.
func (o *localObjects) Delete(_ context.Context, key string) error {
	return o.blobs.remove(bucket + "/" + key)
}
