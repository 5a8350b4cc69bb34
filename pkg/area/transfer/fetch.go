package transfer

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"

	incoming "github.com/content-automation/api/pkg/area/media"
	"github.com/content-automation/api/pkg/cloud/safehttp"
	"github.com/content-automation/api/pkg/media"
	"github.com/content-automation/api/pkg/record/quota"
	"github.com/content-automation/api/pkg/store"
	"github.com/content-automation/api/pkg/task"
)

// fetch copies the next part into the bucket.
func (w *Importer) fetch(ctx context.Context, s *task.Run, r *importRecord, p *place) error {
	declared := r.Parts[p.Fetched]
	body, err := w.open(ctx, s, r.URLs[p.Fetched], p.Fetched+1)
	if err != nil {
		return err
	}
	f, err := media.Spool(ctx, body, mostPart)
	_ = body.Close()
	switch {
	case errors.Is(err, media.ErrTooLarge), errors.Is(err, safehttp.ErrBodyTooLarge):
		return failed("not_fetched", "Part %d has more than 1 GiB.", p.Fetched+1)
	case err != nil && s.Failures+1 >= fetches:
		return failed("not_fetched", "Part %d could not be read to its end. Export again, and import the new parts.",
			p.Fetched+1)
	case err != nil:
		return err
	}
	defer f.Close()
	found := ImportedPart{KindFiles, f.Size, hex.EncodeToString(f.Sum)}
	if declared.SHA256 != "" && declared.SHA256 != found.SHA256 ||
		declared.Bytes != 0 && declared.Bytes != found.Bytes {
		return failed("not_fetched", "Part %d is not the one that was declared: it has %d bytes and the SHA-256 %s.",
			p.Fetched+1, found.Bytes, found.SHA256)
	}
	var first [1]byte
	if _, err := f.ReadAt(first[:], 0); err == nil && first[0] == '{' {
		found.Kind = KindLines
	}
	if err := w.reserve(ctx, s, p.Fetched, f.Size); err != nil {
		return err
	}
	n := p.Fetched
	p.Fetched++
	w.change(s, func(r *importRecord) { r.Parts[n], r.URLs[n] = found, "" })
	return w.Objects.Put(ctx, media.File{Key: partKey(s, n+1), MIMEType: mimeType(string(found.Kind)), Bytes: f.Size,
		SHA256: found.SHA256}, f)
}

// partKey returns the key of the n-th part of the import of a step.
func partKey(s *task.Run, n int) string { return fmt.Sprintf("%spart-%05d", inputPrefix(s), n) }

// reserve counts the bytes of a part for the storage of its account, before the part is stored. The parts count until
// the import ends, and its files from then on with what shows them. A step that is taken again finds them counted.
func (w *Importer) reserve(ctx context.Context, s *task.Run, n int, bytes int64) error {
	return w.DB.Change(ctx, func(tx *store.Tx) error {
		it, r, err := running[importRecord](ctx, w.DB, s)
		if err != nil || r == nil {
			return cmp.Or(err, task.ErrMoved)
		}
		if r.Counted > n || bytes == 0 {
			return nil
		}
		r.Counted, r.Reserved = n+1, r.Reserved+bytes
		tx.Count(quota.BytesKey(s.Owner), bytes, incoming.MostBytes(s.Owner), failed("storage_full", "The media of "+
			"the account may have %d GiB together, and have more with part %d. Delete some, and import again.",
			incoming.MostBytes(s.Owner)>>30, n+1))
		err = it.Encode(r)
		tx.Replace(it)
		return err
	})
}

// open starts reading the part at an address.
func (w *Importer) open(ctx context.Context, s *task.Run, address string, n int) (io.ReadCloser, error) {
	if address == "" {
		return w.Objects.Open(ctx, partKey(s, n))
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, failed("not_fetched", "The URL of part %d is not valid.", n)
	}
	resp, err := w.URLs.Do(req)
	var blocked *safehttp.BlockedError
	switch {
	case errors.As(err, &blocked):
		return nil, failed("not_fetched", "Part %d could not be fetched. %s", n, safehttp.Describe(err))
	case err != nil && s.Failures+1 >= fetches:
		return nil, failed("not_fetched", "Part %d could not be fetched: %s.", n, safehttp.Describe(err))
	case err != nil:
		return nil, err
	case resp.StatusCode == http.StatusOK:
		return resp.Body, nil
	}
	_ = resp.Body.Close()
	again := resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests
	if again && s.Failures+1 < fetches {
		return nil, fmt.Errorf("transfer: part %d: status %d", n, resp.StatusCode)
	}
	return nil, failed("not_fetched", "Part %d could not be fetched: the server answered with status %d. URLs of "+
		"exports end: read the export again for new ones.", n, resp.StatusCode)
}
