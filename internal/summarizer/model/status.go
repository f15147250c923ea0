package model

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/gemini-ctx/ctx/internal/summarizer"
)

// complaint is the content of a provider's error answer, in the form of Gemini or OpenAI, or as the
// bare text of Ollama.
type complaint struct {
	message string
	codes   []string      // code, status, type, reasons and quotas, in the provider's words
	after   time.Duration // when to ask again; 0 if unknown
}

// has reports whether one of the codes contains a part, in any case.
func (c complaint) has(part string) bool {
	for _, code := range c.codes {
		if strings.Contains(strings.ToLower(code), part) {
			return true
		}
	}
	return false
}

// says reports whether the message contains a part, in any case.
func (c complaint) says(part string) bool {
	return strings.Contains(strings.ToLower(c.message), part)
}

func readComplaint(text []byte) complaint {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	var list []json.RawMessage
	if json.Unmarshal(text, &list) == nil && len(list) > 0 {
		text = list[0] // Gemini streams put the error into a list
	}
	if json.Unmarshal(text, &outer) != nil || outer.Error == nil {
		return complaint{message: string(text)}
	}
	var c complaint
	if json.Unmarshal(outer.Error, &c.message) == nil {
		return c
	}
	var inner struct {
		Message string `json:"message"`
		Status  string `json:"status"`
		Type    string `json:"type"`
		Code    any    `json:"code"`
		Details []struct {
			Reason     string `json:"reason"`
			RetryDelay string `json:"retryDelay"`
			Violations []struct {
				QuotaID string `json:"quotaId"`
			} `json:"violations"`
		} `json:"details"`
	}
	if json.Unmarshal(outer.Error, &inner) != nil {
		return complaint{message: string(outer.Error)}
	}
	c.message = inner.Message
	c.codes = append(c.codes, inner.Status, inner.Type, fmt.Sprint(inner.Code))
	for _, d := range inner.Details {
		c.codes = append(c.codes, d.Reason)
		if after, err := time.ParseDuration(d.RetryDelay); err == nil && after > 0 {
			c.after = after
		}
		for _, v := range d.Violations {
			c.codes = append(c.codes, v.QuotaID)
		}
	}
	return c
}

var retryIn = regexp.MustCompile(`(?i)(?:retry|try again) in ((?:[0-9.]+(?:ms|s|m|h))+)`)

// statusError returns the error for an answer with an error status.
func statusError(response *http.Response, text []byte, now time.Time) *Error {
	c := readComplaint(text)
	after := retryAfter(response.Header.Get("Retry-After"), now)
	if after == 0 {
		after = c.after
	}
	if m := retryIn.FindStringSubmatch(c.message); after == 0 && m != nil {
		after, _ = time.ParseDuration(m[1]) // 0 if it cannot be parsed
	}
	e := &Error{
		Message: fmt.Sprintf("HTTP %d: %s", response.StatusCode, strings.TrimSpace(c.message)),
		after:   max(after, 0),
	}
	if strings.TrimSpace(c.message) == "" {
		e.Message = fmt.Sprintf("HTTP %d %s", response.StatusCode,
			http.StatusText(response.StatusCode))
	}
	e.Kind, e.retry = meaning(response.StatusCode, c, after)
	if response.StatusCode/100 == 3 {
		e.Message = fmt.Sprintf(
			"HTTP %d: leads to %q, and no redirect is followed: is the base URL right?",
			response.StatusCode, response.Header.Get("Location"))
	}
	return e
}

// meaning returns the kind of an error, and whether asking again may help. The provider's words
// distinguish a used-up quota from a rate that was too high: a daily quota or an unpaid bill lasts,
// a named delay passes.
func meaning(status int, c complaint, after time.Duration) (summarizer.Kind, bool) {
	switch {
	case status == http.StatusTooManyRequests &&
		(c.has("perday") || c.has("insufficient_quota") || c.says("billing") && after == 0 ||
			c.says("quota") && after == 0):
		return summarizer.Quota, false
	case status == http.StatusPaymentRequired:
		return summarizer.Quota, false
	// 529 means overloaded at some providers
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable,
		status == 529:
		return summarizer.Capacity, true
	case status >= 500, status == http.StatusRequestTimeout, status == http.StatusTooEarly:
		return summarizer.Transient, true
	case status == http.StatusRequestEntityTooLarge, c.has("context_length"),
		status == http.StatusBadRequest && c.says("token count"):
		return summarizer.Refused, false // too long, which concerns only this claim
	}
	return summarizer.Terminal, false
}

// statusWithin returns the status of an error that came with HTTP 200, as gateways pass on errors
// from behind them. It returns 0 if the answer is no error, and 502 (the server behind the gateway
// failed) if the error has no status.
func statusWithin(text []byte) int {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(text, &outer) != nil || len(outer.Error) == 0 ||
		string(outer.Error) == "null" {
		return 0
	}
	for _, code := range readComplaint(text).codes {
		if n, err := strconv.Atoi(code); err == nil && n >= 400 && n <= 599 {
			return n
		}
	}
	return http.StatusBadGateway
}

// retryAfter parses the value of the header Retry-After: seconds, or a date.
func retryAfter(s string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(s), 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(s); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}
