package web

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// secure reports whether the client came by https: to this server, or to a
// trusted proxy that says so.
func (a *API) secure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	proto := r.Header.Values("X-Forwarded-Proto")
	return a.proxied(r) && len(proto) == 1 && strings.EqualFold(proto[0], "https")
}

// proxied reports whether the peer is a trusted proxy.
func (a *API) proxied(r *http.Request) bool {
	ip, ok := peer(r)
	return ok && a.trusted(ip)
}

func (a *API) trusted(ip netip.Addr) bool {
	return slices.ContainsFunc(a.proxies, func(p netip.Prefix) bool { return p.Contains(ip) })
}

// ClientIP is the address a request came from: the peer's, or behind trusted
// proxies the right-most in X-Forwarded-For that is none of them. What stands
// left of it anybody may have made up.
func ClientIP(ctx context.Context) string { return stateOf(ctx).client }

// Scheme is http or https, as the client came.
func Scheme(ctx context.Context) string { return stateOf(ctx).scheme }

func (a *API) scheme(r *http.Request) string {
	if a.secure(r) {
		return "https"
	}
	return "http"
}

func (a *API) clientIP(r *http.Request) string {
	client, ok := peer(r)
	if !ok {
		return ""
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && a.trusted(client); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		client = hop.Unmap().WithZone("")
	}
	return client.String()
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) (netip.Addr, bool) {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return at.Addr().Unmap(), err == nil
}

// forwarding are the headers by which a proxy gives itself away.
var forwarding = []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"}

// local reports whether a request came straight from this machine, to a name of
// this machine. Plain HTTP is safe there, and nowhere else.
func local(r *http.Request) bool {
	for _, name := range forwarding {
		if len(r.Header.Values(name)) > 0 {
			return false
		}
	}
	ip, ok := peer(r)
	return ok && ip.IsLoopback() && loopbackName(r.Host)
}

func loopbackName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || err == nil && ip.IsLoopback()
}

// sameOrigin reports whether a page of this server made the browser send the
// request. Sec-Fetch-Site and Origin are set by the browser, not by a page; of
// the two at least one must say so, and none may say otherwise. "null" says
// nothing: it is what Origin is under Referrer-Policy: no-referrer.
func (a *API) sameOrigin(r *http.Request) bool {
	site, origin := r.Header.Values("Sec-Fetch-Site"), r.Header.Values("Origin")
	if len(origin) == 1 && origin[0] == "null" {
		origin = nil
	}
	switch {
	case len(site)+len(origin) == 0, len(site) > 1, len(origin) > 1:
		return false
	case len(site) == 1 && site[0] != "same-origin":
		return false
	}
	return len(origin) == 0 || strings.EqualFold(origin[0], a.origin(r))
}

// origin is this server's own, as the client sees it.
func (a *API) origin(r *http.Request) string {
	if a.secure(r) {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}
