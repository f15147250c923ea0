package main

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a store with the part of S3 that a remote needs: PUT with the two conditions, GET with a
// range, HEAD, DELETE and the list of a bucket. It keeps objects in memory, by path.
//
// fault, if set, says what goes wrong with a request. It is called with the store's lock held.
type fake struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string][]byte
	fault   func(r *http.Request) fault
	asked   map[string]int // requests by method
}

// fault is what goes wrong with a request.
type fault int

const (
	none     fault = iota
	conflict       // 409, and nothing is done
	busy           // 503, and nothing is done
	lost           // it is done, and the connection ends without an answer
	late           // it is done, and no answer comes until the client gives up
	ignores        // the conditions are not looked at
)

func newFake(t *testing.T) *fake {
	f := &fake{objects: map[string][]byte{}, asked: map[string]int{}}
	f.Server = httptest.NewServer(f)
	t.Cleanup(f.Close)
	return f
}

// ServeHTTP implements http.Handler.
func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := read(r)
	if err != nil {
		refuse(http.StatusBadRequest, "BadDigest")(w) // or the client went away
		return
	}
	answer, wrong := f.take(r, body)
	switch wrong {
	case lost:
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			_ = conn.Close()
		}
		return
	case late:
		<-r.Context().Done()
		return
	}
	answer(w)
}

// read returns the body of a request. It comes in chunks with a signature each if there is no TLS.
func read(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil || !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return body, err
	}
	var data []byte
	for {
		head, rest, _ := bytes.Cut(body, []byte("\r\n"))
		size, _, _ := strings.Cut(string(head), ";")
		n, err := strconv.ParseUint(size, 16, 31)
		if err != nil || len(rest) < int(n)+2 {
			return nil, fmt.Errorf("bad chunk %q", head)
		}
		if n == 0 {
			break
		}
		data, body = append(data, rest[:n]...), rest[n+2:]
	}
	sum := md5.Sum(data)
	if want := r.Header.Get("Content-Md5"); want != base64.StdEncoding.EncodeToString(sum[:]) {
		return nil, fmt.Errorf("bad digest %q", want)
	}
	return data, nil
}

type respond func(w http.ResponseWriter)

// take carries out a request, and returns its answer.
func (f *fake) take(r *http.Request, body []byte) (respond, fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[r.Method]++
	wrong := none
	if f.fault != nil {
		wrong = f.fault(r)
	}
	switch wrong {
	case conflict:
		return refuse(http.StatusConflict, "ConditionalRequestConflict"), wrong
	case busy:
		return refuse(http.StatusServiceUnavailable, "SlowDown"), wrong
	}
	if !strings.Contains(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=ak/") {
		return refuse(http.StatusForbidden, "AccessDenied"), wrong
	}
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if bucket != "bucket" {
		return refuse(http.StatusNotFound, "NoSuchBucket"), wrong
	}
	if key == "" {
		q := r.URL.Query()
		return f.list(q.Get("prefix"), max(q.Get("continuation-token"), q.Get("start-after"))),
			wrong
	}
	now, there := f.objects[key]
	switch r.Method {
	case http.MethodPut:
		if code := precondition(r.Header, now, there); code != 0 && wrong != ignores {
			return refuse(code,
				map[int]string{http.StatusPreconditionFailed: "PreconditionFailed",
					http.StatusNotFound: "NoSuchKey"}[code]), wrong
		}
		f.objects[key] = body
		return func(w http.ResponseWriter) { w.Header().Set("ETag", etag(body)) }, wrong
	case http.MethodDelete:
		delete(f.objects, key)
		return func(w http.ResponseWriter) { w.WriteHeader(http.StatusNoContent) }, wrong
	}
	if !there {
		return refuse(http.StatusNotFound, "NoSuchKey"), wrong
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("ETag", etag(now))
		w.Header().Set("Content-Type", "application/octet-stream")
		// It answers ranges, and 416 for one that begins behind the end.
		http.ServeContent(w, r, "", time.Unix(1, 0), strings.NewReader(string(now)))
	}, wrong
}

// precondition returns the status for a condition that does not hold, or 0.
func precondition(h http.Header, now []byte, there bool) int {
	switch none, match := h.Get("If-None-Match"), h.Get("If-Match"); {
	case none == "*" && there:
		return http.StatusPreconditionFailed
	case match != "" && !there:
		return http.StatusNotFound
	case match != "" && match != etag(now):
		return http.StatusPreconditionFailed
	}
	return 0
}

func etag(b []byte) string {
	sum := md5.Sum(b)
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func refuse(status int, code string) respond {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code><Message>refused by the fake</Message></Error>", code)
	}
}

// list answers with pages of three keys.
func (f *fake) list(prefix, after string) respond {
	type object struct {
		Key          string
		Size         int
		ETag         string
		LastModified string
	}
	var page struct {
		XMLName               xml.Name `xml:"ListBucketResult"`
		IsTruncated           bool
		NextContinuationToken string
		Contents              []object
	}
	var keys []string
	for key := range f.objects {
		if strings.HasPrefix(key, prefix) && key > after {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for i, key := range keys {
		if i == 3 {
			page.IsTruncated, page.NextContinuationToken = true, keys[2]
			break
		}
		page.Contents = append(page.Contents,
			object{key, len(f.objects[key]), etag(f.objects[key]), "2026-01-02T03:04:05.000Z"})
	}
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/xml")
		_ = xml.NewEncoder(w).Encode(page)
	}
}
