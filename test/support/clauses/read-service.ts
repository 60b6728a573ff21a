/** The testable clauses of the public read service specification, each id with its text. */
export const readServiceClauses = {
  // What the service does
  'read.what.read_only':
    'The service is a read-only browser for content that is already public on a social platform.',
  'read.what.converts_posts': 'It converts posts.',
  'read.what.browses_profiles_lists_search':
    'It browses profiles, followers, following lists and search results.',
  'read.what.no_sign_in': 'It has no sign-in.',
  'read.what.no_per_user_data': 'It has no per-user data.',
  'read.what.no_write_path': 'It has no write path.',
  'read.what.same_public_identity': 'Every caller has the same public identity.',
  'read.what.markdown_by_default': 'Responses are rendered Markdown unless JSON is requested.',
  'read.what.json_by_format_parameter': 'JSON is requested with the `format=json` parameter.',
  'read.what.json_by_accept_header':
    'JSON is requested with the header `Accept: application/json`.',
  'read.what.versioned_surface': 'The versioned machine surface exists under `/api/v1`.',
  'read.what.permalink_surface_mirrors_paths':
    "The permalink product surface mirrors the path shape of the original platform's post and search URLs.",
  'read.what.permalink_surface_unversioned':
    'The permalink product surface is unversioned and stable.',
  'read.what.permalink_surface_not_deprecated': 'The permalink product surface is not deprecated.',
  'read.what.mcp_same_reads': 'An MCP server at `/mcp` exposes the same reads as tools.',
  'read.what.surfaces_same_bodies':
    'The versioned and permalink surfaces run the same code and return the same bodies.',
  'read.what.discovery_describes_surfaces': 'Discovery documents describe the machine surfaces.',

  // Resources and their fields
  'read.resources.post_from_url': 'Post: a public post, converted from a post URL.',
  'read.resources.post_from_handle_and_id': 'Post: a public post, converted from handle plus id.',
  'read.resources.profile_by_handle': 'Profile: a public profile addressed by handle.',
  'read.resources.followers_list': 'Followers: the list for a handle.',
  'read.resources.following_list': 'Following: the list for a handle.',
  'read.resources.search_results': 'Search results: results for a query.',
  'read.resources.embed_document': 'Embed document: result of the oembed route.',

  // Bearer key
  'read.key.opaque_prefix_and_secret':
    'An opaque string with a fixed service-specific prefix followed by a secret.',
  'read.key.presented_as_bearer': 'It is presented as `Authorization: Bearer <API_KEY>`.',
  'read.key.created_by_hand': 'It is created by hand.',
  'read.key.shown_once': 'It is shown once.',
  'read.key.only_hash_stored': 'Only its SHA-256 hash is stored.',

  // Problem document
  'read.problem.media_type': 'Errors use media type `application/problem+json` (RFC 9457).',
  'read.problem.member_code': 'Member given: `code` (a stable machine string).',
  'read.problem.member_resolution': 'Member given: `resolution` (a hint string).',

  // Lifecycle object in the machine description
  'read.lifecycle_object.in_openapi': 'The `x-api-lifecycle` object is in `/openapi.json`.',
  'read.lifecycle_object.current_major_version':
    'Member `current_major_version`: current major version.',
  'read.lifecycle_object.supported_versions': 'Member `supported_versions`: supported versions.',
  'read.lifecycle_object.minimum_support_window_months':
    'Member `minimum_support_window_months`: minimum support window in months.',
  'read.lifecycle_object.deprecation_signals':
    'Member `deprecation_signals`: the deprecation signals sent.',
  'read.lifecycle_object.deprecated_operations_dates':
    'Deprecated operations: each with its dates.',
  'read.lifecycle_object.deprecated_operations_replacement':
    'Deprecated operations: each with its replacement.',
  'read.lifecycle_object.successor_single_string':
    'The replacement is given as `successor` (a single string) when one route replaces the alias.',
  'read.lifecycle_object.browse_successor_parameter_and_successors':
    'For `/api/browse` it is given as `successor_parameter` plus `successors`.',
  'read.lifecycle_object.clients_parse_both_shapes': 'Clients must parse both shapes.',
  'read.lifecycle_object.convert_x_successor_version':
    'Deprecated operations also carry `x-successor-version` (`/api/convert`).',
  'read.lifecycle_object.browse_x_successor_version_map':
    'Deprecated operations also carry `x-successor-version-map` (`/api/browse`).',
  'read.lifecycle_object.operations_deprecated_true':
    'Deprecated operations also carry `deprecated: true`.',
  'read.lifecycle_object.api_versioning_repeats_dates':
    'The `/api` document has a `versioning` object that repeats the same dates.',
  'read.lifecycle_object.api_versioning_same_shapes':
    'The `versioning` object of the `/api` document has the same two shapes for `/api/browse`.',

  // Key status per request
  'read.key_status.four_values': 'The response header `X-Api-Key-Status` takes one of four values.',
  'read.key_status.per_request_not_stored':
    'Each value describes the outcome for one request, not a stored state.',
  'read.key_status.valid': '`valid`: a known, enabled key was presented and its allowance applied.',
  'read.key_status.anonymous': '`anonymous`: no key was presented; the public allowance applied.',
  'read.key_status.invalid': '`invalid`: a key was presented but is unknown or disabled.',
  'read.key_status.unverified':
    '`unverified`: the key store was unreachable; the request was served with the public allowance instead of failing.',

  // Key record moves
  'read.key_moves.issue_makes_active':
    'no key, maintainer issues a key by hand: next state key active.',
  'read.key_moves.issue_shows_key_once':
    'no key, maintainer issues a key by hand: the key is handed over out-of-band and shown once.',
  'read.key_moves.disable_rejects_immediately':
    'key active, maintainer disables it in the admin dashboard at any time: key disabled; the next request with it returns 401 `invalid_key` immediately.',
  'read.key_moves.delete_rejects_immediately':
    'key active, maintainer deletes it in the admin dashboard at any time: key deleted; the next request with it returns 401 `invalid_key` immediately.',
  'read.key_moves.rotation_rejects_old_key':
    'key active, maintainer issues a replacement and deletes the old key: old key deleted; the old key then returns 401 `invalid_key`.',

  // Route lifecycle
  'read.route_lifecycle.announced_answers_unchanged':
    'current, a deprecation date is set: next state announced; the route answers unchanged.',
  'read.route_lifecycle.announced_headers_on_success':
    'current, a deprecation date is set: next state announced; the route adds `Deprecation`, `Sunset` and `Link` to every success response.',
  'read.route_lifecycle.announced_headers_on_error':
    'current, a deprecation date is set: next state announced; the route adds `Deprecation`, `Sunset` and `Link` to every error response.',
  'read.route_lifecycle.deprecated_after_date':
    'announced, the date in `Deprecation` passes (2026-09-15 for both scheduled routes): next state deprecated; responses unchanged.',
  'read.route_lifecycle.sunset_may_stop':
    'deprecated, the date in `Sunset` passes (2027-09-15 for both scheduled routes): may stop answering; not required to stop.',

  // Endpoints
  'read.endpoints.public_routes_get': 'All public routes use GET.',
  'read.endpoints.no_request_body': 'All public routes take no request body.',
  'read.endpoints.deprecated_answer_head': 'Deprecated routes also answer HEAD.',
  'read.endpoints.head_carries_deprecation_headers':
    'HEAD on a deprecated route carries the deprecation headers.',
  'read.endpoints.head_without_read': 'HEAD on a deprecated route is answered without a read.',

  // Versioned machine surface
  'read.v1.posts_by_url':
    'GET `/api/v1/posts` with `url` (post URL) and optional `format` returns the converted post.',
  'read.v1.posts_by_handle_and_id':
    'GET `/api/v1/posts` with `handle` together with `id` and optional `format` returns the converted post.',
  'read.v1.posts_either_url_or_handle_id':
    'GET `/api/v1/posts` takes either `url` (post URL) or `handle` together with `id`.',
  'read.v1.profile': 'GET `/api/v1/profiles/{handle}` with optional `format` returns the profile.',
  'read.v1.followers':
    'GET `/api/v1/profiles/{handle}/followers` with optional `format` returns the followers list.',
  'read.v1.following':
    'GET `/api/v1/profiles/{handle}/following` with optional `format` returns the following list.',
  'read.v1.search':
    'GET `/api/v1/search` with `q` (search text) and optional `format` returns search results.',
  'read.v1.search_feed_latest':
    'GET `/api/v1/search` takes an optional `feed`, one shown value being `latest`.',
  'read.v1.oembed': 'GET `/api/v1/oembed` with `url` (post URL) returns the embed document.',
  'read.v1.json_when_format_json': 'Responses are JSON when `format=json` is sent.',
  'read.v1.json_when_accept_json': 'Responses are JSON when `Accept: application/json` is set.',
  'read.v1.otherwise_markdown': 'Otherwise responses are rendered Markdown.',

  // Permalink surface
  'read.permalink.status_converts_post': 'GET `/{handle}/status/{id}`: post conversion.',
  'read.permalink.status_same_body': 'GET `/{handle}/status/{id}`: same body as `/api/v1/posts`.',
  'read.permalink.status_ignores_authorization':
    'GET `/{handle}/status/{id}`: ignores the Authorization header.',
  'read.permalink.search_query_q': 'GET `/search`: query parameter `q`.',
  'read.permalink.search_same_body': 'GET `/search`: same body as `/api/v1/search`.',

  // Deprecated aliases
  'read.aliases.convert': 'GET `/api/convert` with `url`: successor `GET /api/v1/posts`.',
  'read.aliases.browse_resource_values':
    'GET `/api/browse` with `resource`: values `profile`, `followers`, `following`, `search`.',
  'read.aliases.browse_profile_successor':
    'GET `/api/browse`: `resource=profile` maps to the matching `/api/v1/profiles/{handle}` route.',
  'read.aliases.browse_followers_successor':
    'GET `/api/browse`: `resource=followers` maps to the matching `/api/v1/profiles/{handle}` route.',
  'read.aliases.browse_following_successor':
    'GET `/api/browse`: `resource=following` maps to the matching `/api/v1/profiles/{handle}` route.',
  'read.aliases.browse_search_successor':
    'GET `/api/browse`: `resource=search` maps to `/api/v1/search`.',
  'read.aliases.browse_unresolved_keeps_dates':
    'A `/api/browse` call that names no resolvable resource still carries `Deprecation` and `Sunset`.',
  'read.aliases.browse_unresolved_no_successor_link':
    'A `/api/browse` call that names no resolvable resource carries no `successor-version` link.',

  // Discovery and other routes
  'read.discovery.api_description':
    'GET `/api` returns the machine-readable description, including the `versioning` object.',
  'read.discovery.openapi_every_route':
    'GET `/openapi.json` returns every route, parameter and response schema.',
  'read.discovery.openapi_lifecycle': 'GET `/openapi.json` returns `x-api-lifecycle`.',
  'read.discovery.ard_every_surface':
    'GET `/.well-known/ard.json` returns every machine surface the service publishes.',
  'read.discovery.api_catalog_linkset':
    'GET `/.well-known/api-catalog` returns the RFC 9727 linkset for the REST API.',
  'read.discovery.mcp_any_method':
    'any method on `/mcp` reaches the MCP server exposing the same reads as tools.',
  'read.discovery.protected_resource_not_served':
    'GET `/.well-known/oauth-protected-resource` is not served: 404 problem document with `code` `route_not_found`.',
  'read.discovery.authorization_server_not_served':
    'GET `/.well-known/oauth-authorization-server` is not served: 404 problem document with `code` `route_not_found`.',
  'read.discovery.admin_not_public':
    'Private admin routes exist. They are not part of the public API.',
  'read.discovery.admin_unauthorized':
    'Private admin routes answer 401 `unauthorized` to callers without access.',
  'read.discovery.cors_expose_headers':
    'The `/api/*` routes list `Deprecation`, `Sunset` and `Link` in `Access-Control-Expose-Headers`.',

  // Authentication
  'read.auth.no_credentials_needed':
    'Public reads need no credentials. Send the request with no `Authorization` header.',
  'read.auth.shared_public_identity': 'All callers share one public identity.',
  'read.auth.no_oauth_discovery':
    'No OAuth discovery exists. There is no protected resource metadata and no authorization server.',
  'read.auth.no_agent_auth': 'There is no `agent_auth` block.',
  'read.auth.no_oauth_endpoints':
    'There is no `identity_endpoint`, `claim_endpoint`, `events_endpoint`, `token_endpoint` or `revocation_endpoint`.',
  'read.auth.no_claims_or_user_codes':
    'There are no claim tokens, user codes or verification URIs.',
  'read.auth.no_www_authenticate': 'Public routes never return a `WWW-Authenticate` header.',
  'read.auth.errors_no_www_authenticate': 'No public error carries a `WWW-Authenticate` header.',
  'read.auth.no_identity_assertion':
    'Not supported: identity assertion (an ID-JAG token, a JWT bearer assertion, RFC 7523 exchange).',
  'read.auth.no_email_registration':
    'Not supported: registration by e-mail (no e-mail registration, no verification mail, no account object).',
  'read.auth.key_raises_search_allowance':
    'An optional static bearer key raises the search allowance.',
  'read.auth.key_not_self_service': 'The key is not self-service.',
  'read.auth.key_created_in_admin_dashboard':
    'The maintainer creates the key in a private admin dashboard.',
  'read.auth.key_shown_once': 'The key is handed over out-of-band. It is shown once.',
  'read.auth.agent_cannot_obtain_key': 'An agent cannot obtain a key on its own.',
  'read.auth.readable_without_key': 'Everything readable with a key is also readable without one.',
  'read.auth.sent_as_bearer':
    'The key is sent as `Authorization: Bearer <API_KEY>`. Only the `Bearer` scheme is read.',
  'read.auth.basic_ignored': '`Basic` is ignored.',
  'read.auth.query_key_ignored': 'Query-string keys are ignored.',
  'read.auth.custom_headers_ignored': 'Custom headers are ignored.',
  'read.auth.key_affects_search': 'A key affects the browse surface: search.',
  'read.auth.key_affects_profiles':
    'A key affects the browse surface: profiles, followers and following.',
  'read.auth.key_affects_mcp': 'A key affects the browse surface: the MCP server.',
  'read.auth.permalink_post_ignores_key':
    'Post conversion (`/{handle}/status/{id}`) ignores the header and is always public.',
  'read.auth.v1_posts_ignores_key':
    'Post conversion (`/api/v1/posts`) ignores the header and is always public.',
  'read.auth.echoes_key_status':
    'Every such response echoes `X-Api-Key-Status` with one of `valid`, `anonymous`, `invalid`, `unverified`.',
  'read.auth.keyed_no_store': 'Keyed responses carry `Cache-Control: private, no-store`.',
  'read.auth.keyed_never_from_shared_cache':
    'Keyed responses are never served from the shared CDN cache.',
  'read.auth.unverified_soft_degradation':
    '`unverified` is a soft degradation, not an auth error. The request is served with the public allowance.',
  'read.auth.key_no_expiry': 'A key has no expiry.',
  'read.auth.key_no_refresh_or_rotation': 'A key has no refresh flow and no automatic rotation.',
  'read.auth.unknown_key_rejected': 'A presented key that is unknown gives 401 `invalid_key`.',
  'read.auth.disabled_key_rejected': 'A presented key that is disabled gives 401 `invalid_key`.',
  'read.auth.central_revocation':
    'The maintainer disables or deletes a key centrally. The next request with it gives 401 `invalid_key`.',
  'read.auth.rotation_deletes_old_key':
    'Rotation: ask for a new key and stop using the old one. The maintainer deletes the old key.',

  // Events
  'read.events.no_security_event_tokens': 'The service sends no security event tokens (RFC 8935).',
  'read.events.no_events_endpoint': 'The service has no events endpoint.',

  // Errors
  'read.errors.problem_documents':
    'Errors are `application/problem+json` documents (RFC 9457) with members `code` and `resolution`.',
  'read.errors.invalid_key':
    '401 `invalid_key`: presented bearer key unknown or disabled; drop the header and call anonymously, or ask for a replacement; never retry the same key in a loop.',
  'read.errors.unauthorized':
    '401 `unauthorized`: a private admin route was reached; use the public routes from `/openapi.json`.',
  'read.errors.route_not_found':
    '404 `route_not_found`: no such API route; discover routes at `/api`, `/openapi.json` or `/.well-known/api-catalog`.',
  'read.errors.route_not_found_oauth':
    '404 `route_not_found`: no such API route, including the two OAuth well-known paths.',
  'read.errors.rate_limit':
    '429 rate limit: the allowance for this window is exhausted; read `Retry-After` and wait exactly that many seconds.',
  'read.errors.upstream_down':
    '503 upstream: a public upstream provider is down; retry after `Retry-After: 30`.',
  'read.errors.upstream_failure': '502 upstream: an upstream provider failure.',
  'read.errors.upstream_as_problem':
    'Upstream failures appear as 502 or 503 problem documents, not as a version change.',
  'read.errors.never_oauth_invitation': 'A 401 is never an invitation to start an OAuth flow.',
  'read.errors.deprecated_routes_keep_headers':
    'Deprecated routes add the deprecation headers to error responses as well.',

  // Limits
  'read.limits.public_allowance_search_and_browse':
    'The public allowance applies to search and browse reads.',
  'read.limits.key_larger_share': 'A key grants a larger share of a small pooled resource.',
  'read.limits.exhausted_429_retry_after':
    'When an allowance is exhausted the service answers 429 with `Retry-After` in seconds.',
  'read.limits.upstream_outage_retry_after': 'Upstream outage answers 503 with `Retry-After: 30`.',
  'read.limits.conversion_unaffected_by_keys': 'Post conversion is not affected by keys.',
  'read.limits.v1_twelve_months':
    '`/api/v1/*` keeps working for at least 12 months after its successor is published.',

  // Versioning
  'read.versioning.v1_current': '`v1` is the current major version.',
  'read.versioning.breaking_only_new_prefix':
    'Breaking changes ship only under a new prefix such as `/api/v2/*`.',
  'read.versioning.additive_query_parameters':
    'Additive inside v1, with no version bump: new optional query parameters.',
  'read.versioning.additive_fields':
    'Additive inside v1, with no version bump: new fields in JSON bodies and new keys in existing objects.',
  'read.versioning.additive_headers':
    'Additive inside v1, with no version bump: new response headers.',
  'read.versioning.additive_open_ended_values':
    'Additive inside v1, with no version bump: new values in an open-ended field such as `source`.',
  'read.versioning.additive_markdown':
    'Additive inside v1, with no version bump: changes to rendered Markdown wording, ordering and layout.',
  'read.versioning.clients_ignore_unknown_fields': 'Clients must ignore unknown JSON fields.',
  'read.versioning.clients_do_not_parse_markdown': 'Clients must not parse Markdown as data.',
  'read.versioning.breaking_remove_or_rename':
    'Breaking: removing or renaming a query parameter, a JSON field or a route.',
  'read.versioning.breaking_type_or_narrowing':
    'Breaking: changing the type of an existing field, or narrowing what a parameter accepts.',
  'read.versioning.breaking_status_or_code':
    'Breaking: changing the meaning of an existing status code or error `code`.',
  'read.versioning.deprecated_keep_answering': 'Deprecated routes keep answering as before.',
  'read.versioning.three_signals_every_response':
    'Deprecated routes add three signals to every response.',
  'read.versioning.deprecation_structured_date':
    '`Deprecation`: RFC 9745 structured-field Date: `@` followed by Unix seconds.',
  'read.versioning.deprecation_scheduled_value':
    '`Deprecation`: the scheduled value is `@1789430400`, which is 2026-09-15T00:00:00Z.',
  'read.versioning.deprecation_future_date':
    '`Deprecation`: a future date means the route becomes deprecated then.',
  'read.versioning.sunset_http_date': '`Sunset`: RFC 8594 HTTP-date.',
  'read.versioning.sunset_not_before_deprecation':
    '`Sunset`: never earlier than the `Deprecation` date.',
  'read.versioning.sunset_scheduled_value':
    '`Sunset`: the scheduled value is `Wed, 15 Sep 2027 00:00:00 GMT`.',
  'read.versioning.link_successor_version':
    '`Link` with `rel="successor-version"`: RFC 8288 link to the route to move to.',
  'read.versioning.link_successor_safe_to_follow':
    '`Link` with `rel="successor-version"`: safe to follow automatically.',
  'read.versioning.link_deprecation':
    '`Link` with `rel="deprecation"`: link to `{base_url}/docs/versioning`, type `text/html`.',
  'read.versioning.link_sunset':
    '`Link` with `rel="sunset"`: link to `{base_url}/docs/versioning`, type `text/html`.',
  'read.versioning.scheduled_convert_and_browse':
    'Scheduled deprecations: `GET /api/convert` and `GET /api/browse`. Both have deprecation date 2026-09-15 and sunset 2027-09-15.',
  'read.versioning.signals_sent_now': 'Both send the signals now, before the deprecation date.',
  'read.versioning.unchanged_until_sunset': 'Both work unchanged until sunset.',
  'read.versioning.nothing_else_deprecated': 'Nothing else is deprecated.',
  'read.versioning.permalinks_not_aliases':
    'Permalink routes are not aliases and are not going away.',
  'read.versioning.nothing_removed': 'Nothing has been removed yet.',
  'read.versioning.client_warns_on_deprecation':
    'Suggested client policy: warn when `Deprecation` is present.',
  'read.versioning.client_follows_successor':
    'Suggested client policy: follow `successor-version` on the next deploy.',
  'read.versioning.client_fails_near_sunset':
    'Suggested client policy: fail loudly when `Sunset` is less than 30 days away.',
} as const;
