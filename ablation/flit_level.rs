// flit-level prototype of seed 003 S3-S6, S11, S12, S17, S19
use std::collections::VecDeque;
struct Rng(u64);
impl Rng{fn n(&mut self)->u64{self.0=self.0.wrapping_add(0x9E3779B97F4A7C15);let mut z=self.0;z=(z^(z>>30)).wrapping_mul(0xBF58476D1CE4E5B9);z=(z^(z>>27)).wrapping_mul(0x94D049BB133111EB);z^(z>>31)}
 fn f(&mut self)->f64{(self.n()>>11) as f64/(1u64<<53) as f64}
 fn u(&mut self,k:usize)->usize{(self.n()%(k as u64)) as usize}
 fn norm(&mut self)->f64{let a=self.f().max(1e-300);let b=self.f();(-2.0*a.ln()).sqrt()*(6.283185307179586*b).cos()}
 fn par(&mut self,b:f64)->f64{b/(1.0-self.f()).powf(1.0/1.5)}
 fn shuf<T>(&mut self,v:&mut [T]){for i in (1..v.len()).rev(){let j=self.u(i+1);v.swap(i,j);}}}
#[derive(Clone,Copy)] struct Flit{p:u32,i:u16}
#[derive(Clone,Default)] struct Pkt{dst:u32,src:u32,sl:u8,layer:u8,flow:i32,inj:u64,cre:u64,probe:bool,hops:u8}
#[derive(Default)] struct Vl{tx:VecDeque<Flit>,rx:VecDeque<Flit>,res:u16,prev:bool,lastend:bool,cnt:i32,
 // at the receiving switch
 ready:u64,routed:bool,out:usize,conn:bool,connat:u64,drop:i64, fly:u8}
struct Link{from:usize,to:usize,vl:Vec<Vl>,ntx:u32,nrx:u32,high:usize,low:usize,hpc:i32,rr:usize,hold:usize,inflight:Option<(usize,Flit)>}
struct A{flit:bool,bubble:bool,scheme:String,drop:bool,ia:f64,seed:u64,hs:bool,meas:u64,stab:u64,fast:f64,w:Vec<i32>,j:Vec<f64>,peakf:f64,legacy:bool,pl:usize,ups:bool,d0:f64,tau:u64}
const SP:usize=34;
struct Flow{dst:usize,pos:usize,queue:i64,upd:i64,next:[(i64,bool);10],sent:u32,att:u32,del:u32,mn:u64,mx:u64,sum:u64,at:bool}
fn mkflow(r:&mut Rng,dst:usize)->Flow{let mut f=Flow{dst,pos:0,queue:0,upd:0,next:[(0,false);10],sent:0,att:0,del:0,mn:u64::MAX,mx:0,sum:0,at:false};
 for s in 0..10{ f.next[s]=(r.u(60) as i64,true);} for _ in 0..1 { adv(&mut f,r,20000);} f}
// advance the source to slot upd = to
fn adv(f:&mut Flow,r:&mut Rng,to:i64){loop{let (mut b,mut bi)=(i64::MAX,0);for s in 0..10{if f.next[s].0<b{b=f.next[s].0;bi=s;}}
 if b>to{break;} // event at slot b: go ON with k
 let gap=b-f.upd; f.queue=(f.queue-gap).max(0); f.upd=b;
 let k=((r.par(5000.0)+5000.0)/5000.0).floor().min(1e9) as i64; f.queue+=k;
 let w=((r.par(95000.0)+5000.0)/5000.0).floor().min(1e9) as i64;
 f.next[bi].0=b+k+1+w+1;}
 let gap=to-f.upd; f.queue=(f.queue-gap).max(0); f.upd=to;}
// one slot; returns whether to send
fn slot(f:&mut Flow,r:&mut Rng)->bool{f.upd+=1;for s in 0..10{if f.next[s].0<=f.upd{let k=((r.par(5000.0)+5000.0)/5000.0).floor().min(1e9) as i64;f.queue+=k;let w=((r.par(95000.0)+5000.0)/5000.0).floor().min(1e9) as i64;f.next[s].0=f.upd+k+1+w+1;}} if f.queue>0{f.queue-=1;true}else{false}}
struct Host{node:usize,sl:usize,dst:usize,up:usize,bw:f64,n:usize,mean:f64,next:f64,posn:usize,flows:Vec<Flow>,slots:Vec<i32>,q:VecDeque<(u32,bool)>,cur:Option<(usize,u16)>,
 pl:i32,session:u32,dropped:u32,reported:bool,start:u64,tent:bool,off:f64,rejected:u64,attempted:u64, adm:u32, rxcur:usize, dn:usize,
 s_exp:u32,s_rec:u32,s_min:u64,s_max:u64, pkt_probe:u32,
 // EM
 arr:Vec<f64>,wopen:bool,wstart:u64,bl:VecDeque<(u64,u64)>,u:Vec<u64>,hist:VecDeque<(Vec<f64>,Vec<f64>)>}
fn main(){let mut a=A{flit:true,bubble:true,scheme:"noac".into(),drop:false,ia:15.0,seed:1,hs:false,meas:200000,stab:100000,fast:1.0,w:vec![4,6,8,10,1,1],j:vec![15.,20.,25.,30.],peakf:1.5,legacy:false,pl:6,ups:false,d0:100.0,tau:500};
 for s in std::env::args().skip(1){let (k,v)=s.split_once('=').unwrap();match k{"flit"=>a.flit=v=="1","bubble"=>a.bubble=v=="1","scheme"=>a.scheme=v.into(),"drop"=>a.drop=v=="1","ia"=>a.ia=v.parse().unwrap(),"seed"=>a.seed=v.parse().unwrap(),"hs"=>a.hs=v=="1","meas"=>a.meas=v.parse().unwrap(),"stab"=>a.stab=v.parse().unwrap(),"legacy"=>a.legacy=v=="1","peak"=>a.peakf=v.parse().unwrap(),"d0"=>a.d0=v.parse().unwrap(),"tau"=>a.tau=v.parse().unwrap(),_=>panic!("{k}")}}
 let jp=a.scheme=="jp"; let em=a.scheme=="em"; let nsl=if jp{6}else{5}; let layers=3; let nv=nsl*layers; let nsw=32; let mut r=Rng(a.seed*7919+13);
 // graph
 let mut adj=vec![vec![];nsw]; {let mut order:Vec<usize>=(0..nsw).collect();r.shuf(&mut order);let mut m=0;
  for i in 1..nsw{loop{let j=r.u(i);let(x,y)=(order[i],order[j]);if adj[y].len()<10{adj[x].push(y);adj[y].push(x);m+=1;break;}}}
  while m<80{let x=r.u(nsw);let y=r.u(nsw);if x!=y&&!adj[x].contains(&y)&&adj[x].len()<10&&adj[y].len()<10{adj[x].push(y);adj[y].push(x);m+=1;}}}
 let nh=nsw*nsl; let mut links:Vec<Link>=vec![]; let mut lid=vec![vec![usize::MAX;nsw];nsw];
 let new=|from,to|Link{from,to,vl:(0..nv).map(|_|Vl{drop:-1,..Default::default()}).collect(),ntx:0,nrx:0,high:0,low:2*layers,hpc:32,rr:0,hold:usize::MAX,inflight:None};
 for x in 0..nsw{for &y in &adj[x]{lid[x][y]=links.len();links.push(new(x,y));}}
 let mut up=vec![0;nh];let mut dn=vec![0;nh];
 for h in 0..nh{up[h]=links.len();links.push(new(1000+h,h/nsl));dn[h]=links.len();links.push(new(h/nsl,1000+h));}
 let nl=links.len();
 // routes: BFS with random ties, destination trees; LASH layers
 let mut dist=vec![vec![99usize;nsw];nsw]; for s in 0..nsw{dist[s][s]=0;let mut q=VecDeque::from([s]);while let Some(x)=q.pop_front(){for &y in &adj[x]{if dist[s][y]==99{dist[s][y]=dist[s][x]+1;q.push_back(y);}}}}
 let mut nh_=vec![vec![0usize;nsw];nsw]; for d in 0..nsw{for x in 0..nsw{if x!=d{let c:Vec<usize>=adj[x].iter().copied().filter(|&y|dist[y][d]+1==dist[x][d]).collect();nh_[x][d]=c[r.u(c.len())];}}}
 let path=|s:usize,d:usize|{let mut p=vec![];let mut x=s;while x!=d{let y=nh_[x][d];p.push(lid[x][y]);x=y;}p};
 let mut lay=vec![vec![0u8;nsw];nsw]; {let mut dep:Vec<Vec<Vec<usize>>>=vec![vec![vec![];nl];layers];let mut pairs=vec![];for s in 0..nsw{for d in 0..nsw{if s!=d{pairs.push((s,d));}}}
  for (s,d) in pairs{let p=path(s,d);let mut ok=false;for l in 0..layers{let mut added=vec![];for w in p.windows(2){if !dep[l][w[0]].contains(&w[1]){dep[l][w[0]].push(w[1]);added.push((w[0],w[1]));}}
   // cycle check from added
   let mut cyc=false;for &(x,y) in &added{let mut seen=vec![false;nl];let mut st=vec![y];while let Some(z)=st.pop(){if z==x{cyc=true;break;}if seen[z]{continue;}seen[z]=true;st.extend(&dep[l][z]);}if cyc{break;}}
   if cyc{for (x,y) in added{let v=&mut dep[l][x];let k=v.iter().position(|&q|q==y).unwrap();v.remove(k);}}else{lay[s][d]=l as u8;ok=true;break;}}
   if !ok{panic!("layers");}}}
 // balance: random layer would need check; first-fit as LASH
 let perm={let mut p:Vec<usize>=(0..nsw).collect();loop{r.shuf(&mut p);if (0..nsw).all(|i|p[i]!=i){break;}}p};
 let hot={let h1=r.u(nsw);let mut h2=r.u(nsw);while h2==h1{h2=r.u(nsw);}[h1,h2]};
 let dstn:Vec<usize>=(0..nsw).map(|i|if a.hs{if i==hot[0]{hot[1]}else if i==hot[1]{hot[0]}else{hot[r.u(2)]}}else{perm[i]}).collect();
 let loadp=[10.,15.,20.,25.,30.,0.];
 let bws:Vec<f64>=vec![0.0001,0.0002];
 let mut hosts:Vec<Host>=vec![];for h in 0..nh{let sl=h%nsl;let node=h/nsl;let bw=bws[if node%2==0{1}else{0}];let nn=if sl==5{0.0}else{((1.0/a.ia)*(loadp[sl]/100.0)/bw).max(2.0)};
  let mean=if sl==5{1e18}else{1.0/(2.0*bw)/nn.floor()};
  hosts.push(Host{node,sl,dst:dstn[node]*nsl+sl,up:up[h],dn:dn[h],bw,n:nn.floor() as usize,mean,next:r.f()*mean,posn:0,flows:vec![],slots:vec![0;nn.floor() as usize],q:VecDeque::new(),cur:None,pl:-1,session:0,dropped:0,reported:false,start:0,tent:false,off:0.0,rejected:0,attempted:0,adm:0,rxcur:usize::MAX,s_exp:1,s_rec:0,s_min:u64::MAX,s_max:0,pkt_probe:0,arr:vec![0.;20],wopen:false,wstart:0,bl:VecDeque::new(),u:vec![0;20],hist:VecDeque::new()});}
 let maxoff=hosts.iter().map(|h|h.n).max().unwrap(); let mut pk:Vec<Pkt>=vec![]; let mut free:Vec<u32>=vec![];
 // LBL state
 let bw=0.5; let tot=70.0; let mut freebw=vec![vec![0.0;nsl];nl];for l in 0..nl{for s in 0..nsl{freebw[l][s]=bw*loadp[s]/tot;}} let mut freeh=vec![bw;nh];
 let remap=|h:&mut Host|{let n=h.n;for x in h.slots.iter_mut(){*x=-1;}let k=h.flows.len();for f in 0..k{let mut p=f*n/k;while h.slots[p]>=0{p=(p+1)%n;}h.slots[p]=f as i32;}};
 let (mut round,mut empty,mut any,mut done,mut rstart)=(0usize,0,false,0usize,0u64); let mut adding=true; let mut tstab=0u64; let mut tmeas=u64::MAX; let mut tend=u64::MAX;
 let mut delivered=vec![0u64;nsl]; let mut offered=vec![0u64;nsl]; let mut latsum=vec![0u64;nsl]; let mut rejm=vec![0u64;nsl]; let mut drops=vec![0u64;nsl]; let mut creat=vec![0u64;nsl];
 let rt=10u64; let cc=2u64;
 let mut now=0u64; let mut order:Vec<usize>=(0..nsw).collect(); let mut inl:Vec<Vec<usize>>=vec![vec![];nsw];for l in 0..nl{if links[l].to<1000{inl[links[l].to].push(l);}}
 let mut outbusy=vec![u64::MAX;nl]; let mut rrout=vec![0usize;nl]; let _=&mut rrout;
 let mut active:Vec<usize>=vec![];let mut isact=vec![false;nl];
 let mut sched:Vec<Vec<usize>>=vec![vec![];8192]; for h in 0..nh{if hosts[h].n>0{let t=hosts[h].next.max(1.0) as usize;if t<8192{sched[t].push(h);}else{sched[8191].push(h);}}}
 for h in hosts.iter_mut(){for x in h.slots.iter_mut(){*x=-1;}}
 if em {for h in hosts.iter_mut(){h.start=0;}}
 loop{
  // admission
  if adding{ let gap=if em{5*20*a.tau}else{1};
   for h in 0..nh{ if hosts[h].reported||hosts[h].tent{continue;} let s=hosts[h].sl; let mut rep:Option<bool>=None;
    if (now as f64) < rstart as f64+gap as f64+if jp{hosts[h].off}else{0.0}{continue;}
    if s==5||hosts[h].flows.len()+1>hosts[h].n{rep=Some(false);}
    else if s==4||a.scheme=="noac"{let f=mkflow(&mut r,0);hosts[h].flows.push(f);remap(&mut hosts[h]);rep=Some(true);}
    else if a.scheme=="lbl"{ let p=a.peakf*hosts[h].bw*SP as f64; let node=hosts[h].node; let mut ls=path(node,dstn[node]); ls.push(dn[hosts[h].dst]);
      let ok=freeh[h]>=p && ls.iter().all(|&l|freebw[l][s]-p>0.0) && hosts[h].flows.len()+1<hosts[h].n; if ok{freeh[h]-=p;for &l in &ls{freebw[l][s]-=p;}let f=mkflow(&mut r,0);hosts[h].flows.push(f);remap(&mut hosts[h]);} rep=Some(ok);}
    else if em { let d=hosts[h].dst; let hop=dist[hosts[h].node][dstn[hosts[h].node]]+1; let dd=a.d0+25.0*(hop as f64-1.0); let p=hosts[h].bw*2.0*SP as f64; let tau=a.tau as f64;
      let hist=&hosts[d].hist; let mut ok=true; if !hist.is_empty(){ let m=hist.iter().filter(|x|x.0.iter().any(|&v|v>0.0)).count().max(1); 
        for i in 0..20{ let rs:Vec<f64>=hist.iter().map(|x|x.0[i]).collect(); let rm=rs.iter().sum::<f64>()/m as f64; let s2=rs.iter().map(|x|(x-rm)*(x-rm)).sum::<f64>()/((m.max(2)-1) as f64);
         let ss:Vec<f64>=hist.iter().map(|x|{let t=i as f64*tau+dd;let j=x.1.iter().filter(|&&u|u<t).count(); (if j==0{0.0}else if j==20{1e7}else{let(u0,u1)=(x.1[j-1],x.1[j]);if u1==u0{j as f64}else{j as f64+(t-u0)/(u1-u0)}})*SP as f64}).collect();
         let sm=ss.iter().sum::<f64>()/5.0; let k=(m.max(2)-1).min(ss.len()); let p2=ss.iter().rev().take(k).map(|x|(x-sm)*(x-sm)).sum::<f64>()/(m.max(2)-1) as f64; let it=i as f64*tau;
         if it*rm+it*p-sm+(it*it*s2+p2).sqrt()>=0.0{ok=false;break;}}}
      if ok{let f=mkflow(&mut r,0);hosts[h].flows.push(f);remap(&mut hosts[h]);} rep=Some(ok);}
    else if jp{ if hosts[h].n<=hosts[h].flows.len()+1{rep=Some(false);}else{let f=mkflow(&mut r,0);let x=&mut hosts[h];x.flows.push(f);x.session+=1;x.dropped=0;x.pl=a.pl as i32;x.tent=true;remap(x);if !a.legacy{let d=x.dst;let _=d;x.s_rec=0;x.s_min=u64::MAX;x.s_max=0;}} }
    if let Some(b)=rep{hosts[h].reported=true;done+=1;if b{any=true;if s<4{hosts[h].adm+=1;}}}
   }
   if done==nh{ if !any{empty+=1}else{empty=0} done=0;round+=1;for h in hosts.iter_mut(){h.reported=false;h.off=r.f()*99.9;} if empty>=(if jp{1}else{10})||round+1>=maxoff{adding=false;tstab=now;tmeas=now+a.stab;tend=tmeas+a.meas;}else{rstart=now;} any=false;}
  }
  if now==tmeas{for h in hosts.iter_mut(){h.rejected=0;h.attempted=0;for f in h.flows.iter_mut(){f.sent=0;f.att=0;f.del=0;f.mn=u64::MAX;f.mx=0;f.sum=0;}}for v in [&mut delivered,&mut offered,&mut latsum,&mut rejm,&mut drops,&mut creat]{for x in v.iter_mut(){*x=0;}}}
  if now==tend{break;}
  // sources
  let due=std::mem::take(&mut sched[(now%8192) as usize]);
  for h in due{ if hosts[h].next>now as f64+1.0{let t=hosts[h].next;let d=((t-now as f64).min(8191.0)) as u64;sched[((now+d.max(1))%8192) as usize].push(h);continue;}
   { let x=&mut hosts[h]; let sig=x.mean.sqrt(); let g=(x.mean+sig*r.norm()).max(1.0); x.next+=g; let t=x.next;let d=((t-now as f64).max(1.0).min(8191.0)) as u64;sched[((now+d)%8192) as usize].push(h);
     offered[x.sl]+=1; let p=x.posn; x.posn=(x.posn+1)%x.n; let f=x.slots[p]; if f<0{continue;} 
     if !slot(&mut x.flows[f as usize],&mut r){continue;} 
     let mut probe=false;
     if x.tent{ let newest=x.flows.len()-1; let d=x.dst; let me=h; let key=if a.legacy{d}else{me};
       let (rec,mn,mx)=(hosts[key].s_rec,hosts[key].s_min,hosts[key].s_max); let x=&mut hosts[h];
       let pass_eval=x.pl==-2||(x.pl==0&&rec+x.dropped>=6);
       if pass_eval{x.pl=-1;let ok=rec>=6&&mx>mn&&((mx-mn) as f64)<a.j[x.sl];x.tent=false;x.reported=true;done+=1; if ok{any=true;x.adm+=1;}else{x.flows.pop();remap(x);} let gone=!ok&&f as usize==newest;
         let y=&mut hosts[key];y.s_exp+=1;y.s_rec=0;y.s_min=u64::MAX;y.s_max=0; if gone{continue;}
       } else if x.pl==0{x.pl=-2;}
       let x=&mut hosts[h]; if x.tent&&f as usize==newest&&x.pl>0{probe=true;x.pl-=1;}
     }
     let x=&mut hosts[h];
     x.attempted+=1; creat[x.sl]+=1; x.flows[f as usize].att+=1;
     if x.q.len()>=2{x.rejected+=1;rejm[x.sl]+=1;if x.tent{x.dropped+=1;}continue;}
     let id=free.pop().unwrap_or_else(||{pk.push(Pkt::default());(pk.len()-1) as u32});
     let (d,sl)=(x.dst,x.sl); let nd=dstn[x.node];
     pk[id as usize]=Pkt{dst:(if probe&&!a.legacy{d}else{d}) as u32,src:h as u32,sl:if probe{5}else{sl as u8},layer:lay[x.node][nd],flow:f,inj:0,cre:now,probe,hops:0};
     if probe{pk[id as usize].hops=x.session as u8;}
     hosts[h].q.push_back((id,false));
   }
  }
  // host senders: step per cycle
  for h in 0..nh{ let x=&mut hosts[h]; if x.q.is_empty(){continue;} let l=&mut links[x.up];
    if x.cur.is_none(){ let id=x.q[0].0; let p=&mut pk[id as usize]; let v0=p.sl as usize*layers+r.u(layers); // any layer VL of the SL on the private link
      let v=&mut l.vl[v0]; if !v.prev&&v.tx.is_empty()&&((v.rx.is_empty()&&v.res==0)||(v.lastend&&(v.rx.len() as u16+v.res)<SP as u16)) { if a.flit||v.rx.len()as u16+v.res==0 {v.prev=true;v.lastend=false;p.inj=now;x.cur=Some((v0,0));} continue; } else {continue;} }
    if let Some((v0,i))=x.cur{ let v=&mut l.vl[v0]; if v.tx.len()<2&&(v.rx.len() as u16+v.res)<SP as u16{ v.res+=1; v.tx.push_back(Flit{p:x.q[0].0,i}); l.ntx+=1; if !isact[x.up]{isact[x.up]=true;active.push(x.up);} if i as usize==SP-1{v.prev=false;v.lastend=true;x.q.pop_front();x.cur=None;}else{x.cur=Some((v0,i+1));} } }
  }
  // switches: routing, connecting, crossbar
  r.shuf(&mut order);
  for &s in &order{ let k=inl[s].len(); let st=r.u(k); for q in 0..k{ let l=inl[s][(st+q)%k]; if links[l].nrx==0{continue;}
    // heads
    let r0=links[l].rr; let mut moved=false;
    for z in 0..nv{ let vi=(r0+z)%nv; if links[l].vl[vi].rx.is_empty(){continue;} let f=links[l].vl[vi].rx[0];
      // dropping
      if links[l].vl[vi].drop==f.p as i64 { if !moved{moved=true; links[l].vl[vi].rx.pop_front(); links[l].nrx-=1; if f.i as usize==SP-1{links[l].vl[vi].drop=-1;links[l].vl[vi].routed=false;free.push(f.p);} } continue; }
      if f.i==0&&!links[l].vl[vi].conn{
        if !links[l].vl[vi].routed{links[l].vl[vi].routed=true;links[l].vl[vi].ready=now+rt;continue;}
        if links[l].vl[vi].ready>now{continue;}
        let p=&pk[f.p as usize]; let dn_=p.dst as usize/nsl; let o=if dn_==s{dn[p.dst as usize]}else{lid[s][nh_[s][dn_]]}; let ov=p.sl as usize*layers+p.layer as usize;
        let v=&links[o].vl[ov]; let full=(v.rx.len() as u16+v.res) as usize; let okc=!v.prev&&((v.rx.is_empty()&&v.res==0)||(v.lastend&&full<SP)) && (a.flit||full==0);
        if okc{ let v=&mut links[o].vl[ov]; v.prev=true; v.lastend=false; let w=&mut links[l].vl[vi]; w.conn=true; w.connat=now+cc; w.out=o*64+ov; }
        else if a.drop&&p.sl==0{ let fl=p.flow; let _=fl; drops[0]+=1; links[l].vl[vi].drop=f.p as i64; }
        continue;
      }
      if links[l].vl[vi].conn&&!moved{ if links[l].vl[vi].connat>now{continue;} let out=links[l].vl[vi].out; let(o,ov)=(out/64,out%64); if outbusy[o]==now{continue;}
        let v=&mut links[o].vl[ov]; if v.tx.len()<2&&((v.rx.len() as u16+v.res) as usize)<SP{ v.res+=1;v.tx.push_back(f);let end=f.i as usize==SP-1; if end{v.prev=false;v.lastend=true;} links[o].ntx+=1; outbusy[o]=now; if !isact[o]{isact[o]=true;active.push(o);} moved=true; links[l].rr=(vi+1)%nv; let w=&mut links[l].vl[vi]; w.rx.pop_front(); links[l].nrx-=1; if end{let w=&mut links[l].vl[vi];w.conn=false;w.routed=false;} } }
    } } }
  // host receivers: pop one flit per cycle from every VL head (one binder)
  for h in 0..nh{ let l=dn[h]; if links[l].nrx==0{continue;} let mut c=hosts[h].rxcur; if c==usize::MAX{ for v in 0..nv{ if !links[l].vl[v].rx.is_empty(){c=v;break;} } hosts[h].rxcur=c; continue; }
    if let Some(f)=links[l].vl[c].rx.pop_front(){ links[l].nrx-=1; if f.i as usize==SP-1{ hosts[h].rxcur=usize::MAX; let p=pk[f.p as usize].clone(); free.push(f.p); let t=now+1-p.inj;
       if p.probe{ let key=if a.legacy{h}else{p.src as usize}; let okk=if a.legacy{hosts[key].s_exp as u8==p.hops}else{hosts[key].session as u8==p.hops}; if okk{let y=&mut hosts[key];y.s_rec+=1;y.s_min=y.s_min.min(t);y.s_max=y.s_max.max(t);} }
       delivered[p.sl as usize]+=1; latsum[p.sl as usize]+=t; if let Some(fl)=hosts[p.src as usize].flows.get_mut(p.flow as usize){fl.del+=1;fl.mn=fl.mn.min(t);fl.mx=fl.mx.max(t);fl.sum+=t;}
       if em{ let y=&mut hosts[h]; if !y.wopen{y.wopen=true;y.wstart=now;} let sl=((p.cre.saturating_sub(y.wstart))/a.tau) as usize; if sl<20{y.arr[sl]+=SP as f64;} y.bl.push_back((p.cre,now)); if y.bl.len()>20{y.bl.pop_front();} if y.bl.len()==20{let mut i=0;while i<19&&y.bl[i].1>y.bl[i+1].0{i+=1;}for q in 0..=i{let d=y.bl[q].1-y.bl[0].0;y.u[q]=y.u[q].max(d);}} }
    } } }
  if em{ for h in 0..nh{ let y=&mut hosts[h]; if y.wopen&&now>=y.wstart+20*a.tau{ let tau=a.tau as f64;let mut rv=vec![0.0;20]; for k in 0..19{let mut b:f64=0.0;for s in 0..20-k{let q:f64=y.arr[s..=s+k].iter().sum();b=b.max(q);}rv[k+1]=b/((k+1) as f64*tau);} let mut uh=vec![0.0;20];let mut m=0u64;for p in 0..20{m=m.max(y.u[p]);uh[p]=m as f64;} y.hist.push_back((rv,uh));if y.hist.len()>5{y.hist.pop_front();} y.u=vec![0;20];y.arr=vec![0.;20];y.wopen=false; } } }
  // links: arrivals of last cycle then arbitration
  let mut k=0; while k<active.len(){ let li=active[k]; let l=&mut links[li];
    if let Some((v,f))=l.inflight.take(){ let w=&mut l.vl[v]; w.tx.pop_front(); w.fly=0; w.rx.push_back(f); w.res-=1; l.ntx-=1; l.nrx+=1; }
    if l.ntx==0{isact[li]=false;active.swap_remove(k);continue;}
    // choose
    let pick;
    if !a.flit { // packet by packet
      if l.hold!=usize::MAX{ pick=if l.vl[l.hold].tx.is_empty(){usize::MAX}else{l.hold}; }
      else { pick=arb(l,layers,nv,a.bubble,&a.w); }
      if pick!=usize::MAX{ let e=l.vl[pick].tx[0].i as usize==SP-1; l.hold=if e{usize::MAX}else{pick}; }
    } else { pick=arb(l,layers,nv,a.bubble,&a.w); }
    if pick!=usize::MAX{ let f=l.vl[pick].tx[0]; l.inflight=Some((pick,f)); }
    k+=1; }
  now+=1; if now>60_000_000{break;}
 }
 let m=a.meas as f64; let tt:u64=delivered[..5].iter().sum();
 let n=nsw as f64; let _=n;
 print!("{} {} seed={} ia={} end={} rounds={} tot={:.3} sl=",a.scheme,if a.flit{"flit"}else{"pkt"},a.seed,a.ia,tstab,round,tt as f64/m);
 for s in 0..5{print!("{:.4} ",delivered[s] as f64/m);}
 print!("| lat "); for s in 0..5{print!("{:.0} ",latsum[s] as f64/delivered[s].max(1) as f64);}
 print!("| flows "); for s in 0..5{print!("{:.1} ",hosts.iter().filter(|h|h.sl==s).map(|h|h.flows.len()).sum::<usize>() as f64/32.0);}
 print!("| maxj "); for s in 0..5{let mut mx=0;let(mut su,mut c)=(0u64,0u64);for h in &hosts{if h.sl==s{for f in &h.flows{if f.del>0{let j=f.mx-f.mn;mx=mx.max(j);su+=j;c+=1;}}}}print!("{}/{:.0} ",mx,su as f64/c.max(1) as f64);}
 print!("| full "); for s in 0..5{let(mut fu,mut c)=(0,0);for h in &hosts{if h.sl==s{for f in &h.flows{if f.att>0{c+=1;if f.del+1>=f.att{fu+=1;}}}}}print!("{:.1} ",100.0*fu as f64/c.max(1) as f64);}
 println!("| drop {:.4} rej {:?}",drops[0] as f64/m,rejm);
}
fn arb(l:&mut Link,layers:usize,nv:usize,bubble:bool,w:&[i32])->usize{ let nh=2*layers;
 fn pk(l:&mut Link,hi:bool,nh:usize,nv:usize,layers:usize,bubble:bool,w:&[i32])->usize{ let (a,b)=if hi{(0,nh)}else{(nh,nv)}; for pass in 0..2{ let c=if hi{l.high}else{l.low}; for i in c..b{ if !l.vl[i].tx.is_empty()&&l.vl[i].cnt>0{ if hi{l.high=i}else{l.low=i}; return i; } } if hi{l.high=a}else{l.low=a}; for i in a..b{l.vl[i].cnt=w[i/layers];} if bubble||pass==1{return usize::MAX;} } usize::MAX }
 let mut tok; if l.hpc>0{ let h=pk(l,true,nh,nv,layers,bubble,w); if h!=usize::MAX{l.hpc-=1;tok=h;l.vl[h].cnt-=1;}else{tok=pk(l,false,nh,nv,layers,bubble,w);if tok!=usize::MAX{l.vl[tok].cnt-=1;}} }
 else { let lo=pk(l,false,nh,nv,layers,bubble,w); l.hpc=32; if lo!=usize::MAX{tok=lo;l.vl[lo].cnt-=1;}else{l.hpc-=1;tok=pk(l,true,nh,nv,layers,bubble,w);if tok!=usize::MAX{l.vl[tok].cnt-=1;}} }
 let _=&mut tok; tok}
